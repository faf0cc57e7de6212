import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type EventStoreOptions, openEventStoreLog } from '../../../../src/adapters/event-log/eventstoredb.ts'
import { BEFORE_FIRST, NO_STREAM, RevisionConflict } from '../../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../../src/ports/faults.ts'
import { collect } from '../../../support/collect.ts'
import { openLog } from '../../../support/engine.ts'
import {
  type AppendFate,
  accessDenied,
  badRequest,
  type Faults,
  maximumAppendSizeExceeded,
  noLeaderInfo,
  notLeader,
  type Refusal,
  serverBusy,
  streamDeleted,
  timedOut,
  unknown,
} from '../../../support/event-store/faults.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { ScriptProcess } from '../../../support/service-process.ts'
import { eventStoreAt } from '../../../support/store-addresses.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { isLong } from '../../../support/test-length.ts'

// Appends share one call, and correlation ids match the responses.

const open = async (t: Test, faults: Faults = {}, limits: Partial<EventStoreOptions> = {}) => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored, faults })
  const log = openEventStoreLog({ address: eventStoreAt(server.url), ...LIMITS, ...limits })
  t.teardown(() => server.close())
  t.teardown(() => log.close())
  return { stored, server, log }
}

const LIMITS = { appendTimeoutMs: 1000, leaderTimeoutMs: 500 }

/** Appends to separate streams, and returns each revision or error. */
const appendTo = (log: Awaited<ReturnType<typeof open>>['log'], streams: string[]) =>
  Promise.all(streams.map(stream => log.append(stream, newEvents(1), NO_STREAM).catch(error => error)))

const named = (count: number) => Array.from({ length: count }, (_, index) => `account-${index}`)

/** A different fate for each stream. */
const fateOf =
  (fates: Record<string, AppendFate>): Faults['append'] =>
  ({ stream }) =>
    fates[stream]

t.test('responses in another order reach the right appends', async t => {
  const streams = named(20)
  const early = streams.slice(10)
  const fates = Object.fromEntries(
    streams.map(stream => [stream, { answeredAfterMs: early.includes(stream) ? 0 : 300 }]),
  )
  const { log } = await open(t, { append: fateOf(fates) })
  const order: string[] = []
  const answers = await Promise.all(
    streams.map(async stream => {
      const appended = await log.append(stream, newEvents(1), NO_STREAM)
      order.push(stream)
      return appended
    }),
  )
  t.same(new Set(order.slice(0, early.length)), new Set(early))
  const events = await Promise.all(streams.map(stream => collect(log.readStream(stream, 0))))
  t.same(
    events.map(all => all.map(({ position }) => position)),
    answers.map(({ position }) => [position]),
  )
})

t.test('a refused append does not affect the others', async t => {
  const refusals: [Refusal, RegExp, 'certain' | 'open' | 'damaged'][] = [
    [accessDenied(), /denies access/, 'certain'],
    [maximumAppendSizeExceeded(1024), /raise MaxAppendSize/, 'certain'],
    [noLeaderInfo(), /No leader info/, 'certain'],
    [serverBusy(), /Server Is Busy/, 'certain'],
    [streamDeleted('account-1'), /a stream of this log was deleted/, 'damaged'],
    [timedOut(), /failed: /, 'open'],
    [badRequest('no such option'), /no such option/, 'open'],
    [unknown(new Error('out of luck')), /failed: /, 'open'],
  ]
  for (const [refuse, message, outcome] of refusals) {
    const { log } = await open(t, { append: fateOf({ 'account-1': { refuse } }) })
    const [before, failure, after] = await appendTo(log, named(3))
    t.match([before, after], [{ revision: 0 }, { revision: 0 }], refuse.details)
    t.match(failure, { message }, refuse.details)
    t.equal(failure instanceof Unavailable, outcome === 'certain', refuse.details)
    t.equal(failure instanceof Damaged, outcome === 'damaged', refuse.details)
  }
  const { log } = await open(t, { append: fateOf({ 'account-1': { wrongExpected: true, current: 3 } }) })
  const [before, conflict, after] = await appendTo(log, named(3))
  t.match([before, after], [{ revision: 0 }, { revision: 0 }])
  t.ok(conflict instanceof RevisionConflict)
})

t.test('a single append without a response is in doubt', async t => {
  const { log, stored } = await open(t, { append: fateOf({ 'account-1': 'unanswered', 'account-3': 'unheard' }) })
  const answers = await appendTo(log, named(5))
  t.match(
    answers.map(answer => (answer instanceof Unavailable ? 'unavailable' : (answer.revision ?? answer.message))),
    [0, /did not answer an append within 1000 ms/, 0, /did not answer an append within 1000 ms/, 0],
  )
  const written = (await collect(stored.readAll(BEFORE_FIRST))).map(({ stream }) => stream)
  t.same(new Set(written), new Set(named(5).filter(stream => stream !== 'account-3')))
})

t.test('a broken call leaves exactly its unanswered appends in doubt', async t => {
  const { log, server } = await open(t, { append: fateOf({ 'account-1': 'unanswered', 'account-2': 'unheard' }) })
  const left = appendTo(log, ['account-1', 'account-2'])
  t.match(await appendTo(log, ['account-3', 'account-4']), [{ revision: 0 }, { revision: 0 }])
  server.dropConnections()
  for (const failure of await left) {
    t.match(failure, { message: /failed: / })
    t.notOk(failure instanceof Unavailable)
  }
  t.match(await appendTo(log, ['account-5']), [{ revision: 0 }], 'the next append uses a new connection')
})

t.test('a server that does not lead ends the call: a single append was not written, several are in doubt', async t => {
  const refuse = notLeader('127.0.0.1', 1)
  const alone = await open(t, { append: fateOf({ 'account-1': { refuse } }) })
  t.ok((await appendTo(alone.log, ['account-1']))[0] instanceof Unavailable)
  const faults = fateOf({ 'account-0': 'unanswered', 'account-1': { refuse } })
  const several = await open(t, { append: faults })
  for (const failure of await appendTo(several.log, ['account-0', 'account-1'])) {
    t.ok(failure instanceof Error)
    t.notOk(failure instanceof Unavailable, 'it is unknown which of them was refused')
  }
})

t.test('appends beyond the queue limit are refused at once', async t => {
  const { log } = await open(t, { append: () => 'unheard' })
  const large = Array.from({ length: 80 }, (_, index) =>
    log.append(`account-${index}`, newEvents(1, 'x'.repeat(900_000)), NO_STREAM).catch(error => error),
  )
  const outcomes = await Promise.all(large)
  const refused = outcomes.filter(
    error => error instanceof Unavailable && /too many appends are waiting/.test(error.message),
  )
  t.ok(refused.length > 0 && refused.length < 20, `${refused.length} of 80 would be more than 64 MiB`)
  await t.rejects(log.append('account-x', newEvents(4, 'x'.repeat(900_000)), NO_STREAM), RangeError)
})

t.test('many connections that break leave nothing open', async t => {
  const [LOGS, ROUNDS] = [10, isLong ? 100 : 10]
  const { server, stored } = await open(t)
  await stored.append('account-read', newEvents(3), NO_STREAM)
  const logs = Array.from({ length: LOGS }, () => openEventStoreLog({ address: eventStoreAt(server.url) }))
  for (const log of logs) t.teardown(() => log.close())
  const rejections: unknown[] = []
  const note = (reason: unknown) => rejections.push(reason)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const oneRound = async (round: number, end: AppendFate | undefined) => {
    server.faults.append = () => end
    server.faults.read = end && (() => ({ after: round % 4, by: round % 2 ? 'break' : 'hang' }))
    const work = Promise.allSettled(
      logs.flatMap((log, index) => [
        log.append(`account-${round}-${index}`, newEvents(1), NO_STREAM),
        collect(log.readStream('account-read', 0)),
      ]),
    )
    await delay(round % 20)
    server.faults.append = undefined
    server.faults.read = undefined
    if (end) server.dropConnections()
    return work
  }
  await oneRound(0, undefined)
  const before = openResources()
  const ends: AppendFate[] = ['broken before', 'broken after', 'unanswered', 'unheard']
  let settled = 0
  for (let round = 1; round <= ROUNDS; round++) settled += (await oneRound(round, ends[round % 4])).length
  t.equal(settled, ROUNDS * LOGS * 2, 'every append and every read settled')
  t.same(rejections, [], 'no rejection was unhandled')
  for (const outcome of await oneRound(ROUNDS + 1, undefined)) t.equal(outcome.status, 'fulfilled')
  await expectResources(t, before)
})

t.test('connections to a hung server are closed', async t => {
  const server = new ScriptProcess('test/support/event-store/process.ts', [await temporaryFolder(t)], {})
  t.teardown(() => server.end('SIGKILL'))
  const [, url = ''] = await server.until(/"url":"([^"]+)"/)
  const limits = { ...LIMITS, leaderTimeoutMs: 1500, readTimeoutMs: 1500, slowAfterMs: 100 }
  const log = openEventStoreLog({ address: eventStoreAt(url), ...limits })
  t.teardown(() => log.close())
  await log.append('account-0', newEvents(1), NO_STREAM)
  const before = openResources()
  process.kill(server.pid, 'SIGSTOP')
  for (let attempt = 0; attempt < 4; attempt++) await t.rejects(log.head(), Unavailable)
  await expectResources(t, before)
  process.kill(server.pid, 'SIGCONT')
  t.equal((await log.append('account-1', newEvents(1), NO_STREAM)).revision, 0)
})

/** Waits until there are as many timers, sockets and calls as before. */
const expectResources = async (t: Test, before: Record<string, number>) => {
  const isMore = () => Object.entries(openResources()).some(([kind, count]) => count > (before[kind] ?? 0))
  for (let waitedMs = 0; isMore() && waitedMs < 5000; waitedMs += 100) await delay(100)
  t.notOk(isMore(), JSON.stringify({ before, after: openResources() }))
}

/** Counts the timers, sockets and other resources of this process by kind. */
const openResources = (): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  // The list above omits sockets that do not keep the process alive.
  return { ...counts, descriptors: readdirSync('/proc/self/fd').length }
}

const newEvents = (count: number, text = '') =>
  Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    type: 'SomethingHappened',
    data: { text },
    metadata: {},
  }))
