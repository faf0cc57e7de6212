import t, { type Test } from 'tap'
import { SEALS_STREAM } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { LogSealed } from '../../../schemas/seal-events.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import type { SealCopy, SealSink } from '../../../src/ports/seal-sink.ts'
import { SealSinkReactor } from '../../../src/reactors/upkeep/seal-sink.ts'
import { sealName } from '../../../src/services/seals/seals.ts'
import { silentLogger } from '../../support/engine.ts'
import { logOf } from '../../support/log-of.ts'
import { until } from '../../support/until.ts'

/** Waits take a hundredth of their time. */
const clock: Clock = {
  ...{ nowMs: systemClock.nowMs, monotonicMs: systemClock.monotonicMs },
  timer: (delayMs, callback) => systemClock.timer(delayMs / 100, callback),
}

const at = '2026-11-23T21:36:09.597Z'
const keyId = 'k'.repeat(43)
const signature = 's'.repeat(86)
const metadata = (number: number) => ({ format: 2, at, actor: { kind: 'service' }, hash: sha256(`${number}`) })
const raw = { id: crypto.randomUUID(), stream: SEALS_STREAM }

const seal = (number: number): RawEvent => {
  const root = sha256('root')
  const counts = { number, events: number, streams: 1, position: number }
  const data: LogSealed = { ...counts, root, earlier: root, previous: root, at, keyId, signature }
  return { ...raw, revision: number, position: number, type: 'LogSealed', data, metadata: metadata(number) }
}

const adoption = (number: number): RawEvent => {
  const data = { key: { kty: 'OKP', crv: 'Ed25519', x: 'x'.repeat(43) }, keyId, signature }
  return { ...raw, revision: number, position: number, type: 'SealKeyAdopted', data, metadata: metadata(number) }
}

/** A sink in memory. `faults` counts the appends that fail before or after the seals are there. */
const memorySink = (kept: SealCopy[] = []) => {
  const faults = { before: 0, after: 0 }
  const down = (when: keyof typeof faults) => {
    if (faults[when] === 0) return
    faults[when] -= 1
    throw new Unavailable('the sink is down')
  }
  const sink: SealSink = {
    name: 'memory',
    last: async () => kept.at(-1),
    append: async (seals, last) => {
      down('before')
      if (kept.at(-1)?.link !== last?.link) throw new Error('it does not follow')
      kept.push(...seals)
      down('after')
    },
    close: async () => undefined,
  }
  return { sink, kept, faults, numbers: () => kept.map(({ number }) => number) }
}

const start = (t: Test, sink: SealSink, log: Pick<ReturnType<typeof logOf>, 'readStream' | 'readEvent'>) => {
  const [told, alarms]: [string[], string[]] = [[], []]
  const tell = (_facts: object, message: string) => told.push(message)
  const error = (_facts: object, message: string) => alarms.push(message)
  const reactor = new SealSinkReactor({ log, sink, clock, logger: { ...silentLogger, warn: tell, info: tell, error } })
  t.teardown(() => reactor.stop())
  reactor.start()
  return { reactor, told, alarms }
}

t.test('all seals are copied in order, also those that come later', async t => {
  const events = [adoption(0), ...Array.from({ length: 250 }, (_, index) => seal(index + 1))]
  const { sink, kept, numbers } = memorySink()
  const { told } = start(t, sink, logOf(events))
  await until('the seals are copied', () => kept.length === 250)
  events.push(adoption(251), seal(252))
  await until('the next one is copied', () => kept.length === 251)
  t.same(numbers(), [...Array.from({ length: 250 }, (_, index) => index + 1), 252])
  t.match(kept[0], { link: sha256('1'), name: sealName(seal(1).data as LogSealed) })
  t.match(JSON.parse(kept[0]?.text ?? ''), {
    object: 'seal',
    number: 1,
    name: kept[0]?.name,
    link: sha256('1'),
    data: seal(1).data as object,
  })
  t.same(told, [])
})

t.test('a process goes on where the sink stands', async t => {
  const { sink, kept, numbers } = memorySink([{ number: 2, link: sha256('2'), name: '', text: '' }])
  start(t, sink, logOf([adoption(0), seal(1), seal(2), seal(3), seal(4)]))
  await until('the rest is copied', () => kept.length === 3)
  t.same(numbers(), [2, 3, 4])
})

t.test('a sink that is down, or whose answer is lost, gets each seal; the failure is told once', async t => {
  const { sink, faults, numbers } = memorySink()
  Object.assign(faults, { before: 3, after: 2 })
  const events = [adoption(0), seal(1), seal(2)]
  const { told } = start(t, sink, logOf(events))
  await until('both are copied', () => numbers().length === 2)
  await until('the next attempt reads the sink', () => faults.after === 1)
  events.push(seal(3))
  await until('the sink works again', () => told.includes('seals are copied again'))
  t.same(numbers(), [1, 2, 3])
  t.ok(told.length <= 4, told.join())
  t.equal(told[0], 'seals could not be copied; trying again')
})

t.test('a sink that has what the log does not hold gets nothing', async t => {
  for (const foreign of [
    { number: 2, link: sha256('other'), name: '', text: '' },
    { number: 9, link: sha256('9'), name: '', text: '' },
  ]) {
    const { sink, numbers } = memorySink([foreign])
    const { alarms } = start(t, sink, logOf([adoption(0), seal(1), seal(2), seal(3)]))
    await until('it is told', () => alarms.length > 0)
    t.same(numbers(), [foreign.number])
  }
})

t.test('reads that repeat events or leave some out copy each seal once and in order', async t => {
  const events = [adoption(0), seal(1), seal(2), seal(3), seal(4)]
  const whole = logOf(events)
  let reads = 0
  async function* readStream(stream: string, from: number) {
    reads += 1
    for await (const page of whole.readStream(stream, from)) {
      if (reads === 1) yield page.filter(({ revision }) => revision !== 2)
      else yield* [page.slice(0, 2), page.slice(0, 3), page]
    }
  }
  const { sink, kept, numbers } = memorySink()
  start(t, sink, { ...whole, readStream })
  await until('all are copied', () => kept.length === 4)
  t.same(numbers(), [1, 2, 3, 4])
})

t.test('a sink that hangs does not hold up a stop', async t => {
  const { sink } = memorySink()
  let began = false
  const append = () => {
    began = true
    return new Promise<void>(() => undefined)
  }
  const { reactor } = start(t, { ...sink, append }, logOf([adoption(0), seal(1)]))
  await until('it hangs', () => began)
  await until('it stops', () => reactor.stop().then(() => true))
})
