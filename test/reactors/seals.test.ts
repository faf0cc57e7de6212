import t, { type Test } from 'tap'
import type { RawEvent } from '../../schemas/recorded.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { SealsReactor } from '../../src/reactors/seals.ts'
import type { Sealer } from '../../src/services/seals/sealer.ts'
import { collect } from '../support/collect.ts'
import { openLog, silentLogger } from '../support/engine.ts'
import { writeHistory } from '../support/history.ts'
import { until } from '../support/until.ts'

/** Timers run fifty times as fast. */
const fastClock: Clock = {
  ...{ nowMs: systemClock.nowMs, monotonicMs: systemClock.monotonicMs },
  timer: (delayMs, callback) => systemClock.timer(delayMs / 50, callback),
}

/** A reactor on a log whose first reads go wrong, and the ids that its sealer took since it last began. */
const start = async (t: Test, ...wrongReads: ((page: RawEvent[]) => RawEvent[])[]) => {
  const log = await openLog(t)
  await writeHistory(log, { accounts: 6 })
  const all = (await collect(log.readAll(BEFORE_FIRST))).map(({ id }) => id)
  const readAll: EventLog['readAll'] = async function* (after) {
    const change = wrongReads.shift()
    for await (const page of log.readAll(after)) yield change ? change(page) : page
  }
  const reported: string[] = []
  let taken: string[] = []
  const sealer: Pick<Sealer, 'restart' | 'take' | 'sealWhatIsDue'> = {
    restart: async () => {
      taken = []
      return BEFORE_FIRST
    },
    take: events => taken.push(...events.map(({ id }) => id)),
    sealWhatIsDue: async () => undefined,
  }
  const logger = { ...silentLogger, error: ({ err }: { err?: Error }) => reported.push(String(err?.message)) }
  const reactor = new SealsReactor({ log: { readAll }, sealer: sealer as Sealer, clock: fastClock, logger })
  reactor.start()
  t.teardown(() => reactor.stop())
  return { all, reported, taken: () => taken, wrongReads }
}

t.test('the log is read from the last seal on, and again after a failure', async t => {
  const fail = () => {
    throw new Error('the connection is lost')
  }
  const { all, reported, taken } = await start(t, fail, fail)
  await until('the sealer has taken all', () => taken().length === all.length)
  t.same(taken(), all)
  t.same(reported, ['the connection is lost'], 'the same failure is reported once')
})

const wrongPages: Record<string, (page: RawEvent[]) => RawEvent[]> = {
  'a repeated event': page => page.toSpliced(10, 0, page[9] as RawEvent),
  'two events swapped': page => page.toSpliced(10, 2, page[11] as RawEvent, page[10] as RawEvent),
}
for (const [name, change] of Object.entries(wrongPages))
  t.test(`a page with ${name} is not taken`, async t => {
    const { all, reported, taken } = await start(t, change)
    await until('the sealer has taken all', () => taken().length === all.length)
    t.same(taken(), all)
    t.match(reported, [/^the event log handed over /])
  })

t.test('no event is taken twice as the log goes on', async t => {
  const { all, taken, wrongReads } = await start(t)
  await until('the sealer has taken all', () => taken().length === all.length)
  let reads = 0
  const count = (page: RawEvent[]) => {
    reads += 1
    return page
  }
  wrongReads.push(count, count)
  await until('the log was read twice more', () => wrongReads.length === 0)
  t.same(taken(), all)
  t.equal(reads, 0, 'nothing is read again')
})
