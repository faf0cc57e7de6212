import t, { type Test } from 'tap'
import { toPosition } from '../../../../src/adapters/event-log/eventstoredb/messages.ts'
import { openEventStoreLog } from '../../../../src/adapters/event-log/eventstoredb.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../../../src/ports/event-log.ts'
import { Damaged, Unavailable } from '../../../../src/ports/faults.ts'
import { collect } from '../../../support/collect.ts'
import { openLog } from '../../../support/engine.ts'
import {
  accessDenied,
  type Faults,
  notLeader,
  notReady,
  type Refusal,
  streamDeleted,
  timedOut,
} from '../../../support/event-store/faults.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { node } from '../../../support/program.ts'
import { ProgramProcess } from '../../../support/service-process.ts'
import { eventStoreAt } from '../../../support/store-addresses.ts'

const startServer = async (t: Test, faults: Faults = {}) => {
  const stored = await openLog(t)
  const server = await startEventStoreServer({ log: stored, faults })
  t.teardown(() => server.close())
  return { stored, server }
}

/** For operations that must time out. On a busy machine, a response takes much of it. */
const IMPATIENT = { appendTimeoutMs: 1000, readTimeoutMs: 1000 }

const open = async (t: Test, faults: Faults = {}, limits: Partial<typeof IMPATIENT> = {}) => {
  const { stored, server } = await startServer(t, faults)
  const log = openEventStoreLog({ address: eventStoreAt(server.url), leaderTimeoutMs: 1000, ...limits })
  t.teardown(() => log.close())
  return { stored, server, log }
}

t.test('refusals report that nothing was written, and unclear outcomes do not', async t => {
  const refusals: [string, Refusal, RegExp, boolean][] = [
    ['access', accessDenied(), /denies access; check the user, password and tls setting/, true],
    ['not ready', notReady(), /failed: Server Is Not Ready/, true],
    ['a timeout', timedOut(), /failed: Timeout/, false],
  ]
  for (const [name, refuse, message, isCertain] of refusals) {
    const { log } = await open(t, { append: () => ({ refuse }), read: () => ({ refuse }) })
    const failure = await log.append('account-1', newEvents(1), NO_STREAM).catch(error => error)
    t.match(failure, { message }, name)
    t.equal(failure instanceof Unavailable, isCertain, name)
    t.match(failure, { message: /EventStoreDB at 127\.0\.0\.1:\d+/ }, name)
    await t.rejects(collect(log.readStream('account-1', 0)), Unavailable, `${name}, for a read`)
    await t.rejects(log.head(), Unavailable, `${name}, for the head`)
  }
})

t.test('a stream deleted on the server is reported as damage', async t => {
  const { log } = await open(t, { read: () => ({ refuse: streamDeleted('account-1') }) })
  await t.rejects(collect(log.readStream('account-1', 0)), Damaged)
})

t.test('an append larger than the server accepts is not written', async t => {
  const { log, stored } = await open(t)
  const events = newEvents(2).map(event => ({ ...event, data: { text: 'x'.repeat(600_000) } }))
  await t.rejects(log.append('account-1', events, NO_STREAM), { name: 'Unavailable', message: /raise MaxAppendSize/ })
  t.same(await collect(stored.readAll(BEFORE_FIRST)), [])
})

t.test('data that is not valid JSON is refused at once', async t => {
  const { log } = await open(t)
  const [event] = newEvents(1)
  await t.rejects(
    log.append('account-1', [{ id: '', type: '', metadata: {}, ...event, data: { number: 1n } }], NO_STREAM),
  )
  t.equal((await log.append('account-1', newEvents(1), NO_STREAM)).revision, 0, 'the stream is not blocked')
})

t.test('retries end if a leader refuses every request', async t => {
  const { log, server, stored } = await open(t)
  const refuse = notLeader('127.0.0.1', server.port)
  Object.assign(server.faults, { append: () => ({ refuse }), read: () => ({ refuse }) })
  const message = /is not the leader of its cluster/
  await t.rejects(log.append('account-1', newEvents(1), NO_STREAM), { name: 'Unavailable', message })
  await t.rejects(collect(log.readStream('account-1', 0)), { name: 'Unavailable', message })
  t.same(await collect(stored.readAll(BEFORE_FIRST)), [])
})

t.test('a server is found again after a long outage', async t => {
  const { server, log, stored } = await open(t)
  await log.append('account-1', newEvents(1), NO_STREAM)
  const { port } = server
  await server.close()
  for (let attempt = 0; attempt < 3; attempt++)
    await t.rejects(log.append('account-1', newEvents(1), 0), /EventStoreDB at 127\.0\.0\.1/)
  const again = await startEventStoreServer({ log: stored, port })
  t.teardown(() => again.close())
  t.equal((await log.append('account-1', newEvents(1), 0)).revision, 1)
})

t.test('an unreachable server has written nothing', async t => {
  const { server, log } = await open(t)
  await server.close()
  const message = /request to EventStoreDB at 127\.0\.0\.1:\d+ failed: No connection established/
  await t.rejects(log.append('account-1', newEvents(1), NO_STREAM), { name: 'Unavailable', message })
  await t.rejects(log.head(), { name: 'Unavailable', message })
})

t.test('requests on a dead connection time out', async t => {
  const { server, log } = await open(t, {}, IMPATIENT)
  await log.append('account-1', newEvents(1), NO_STREAM)
  server.silence(true)
  const append = await log.append('account-1', newEvents(1), 0).catch(error => error)
  t.match(append, { message: /did not answer an append within 1000 ms/ })
  t.notOk(append instanceof Unavailable, 'it may still arrive')
  await t.rejects(log.head(), { name: 'Unavailable', message: /EventStoreDB at 127\.0\.0\.1/ })
  const following = log.follow(BEFORE_FIRST, AbortSignal.timeout(30_000))[Symbol.asyncIterator]()
  await t.rejects(following.next(), { name: 'Unavailable' }, 'a subscription that is never confirmed')
  server.silence(false)
  t.ok((await log.head()) > BEFORE_FIRST)
})

t.test('an interrupted read fails, and never looks complete', async t => {
  for (const by of ['break', 'hang'] as const) {
    const { log, stored } = await open(t, { read: () => ({ after: 20, by }) }, IMPATIENT)
    await stored.append('account-1', newEvents(50), NO_STREAM)
    await t.rejects(collect(log.readStream('account-1', 0)), Unavailable, by)
    await t.rejects(collect(log.readAll(BEFORE_FIRST)), Unavailable, by)
  }
})

t.test('an event with invalid JSON is reported as damage', async t => {
  const { log, server } = await open(t)
  await log.append('account-1', newEvents(1), NO_STREAM)
  server.faults.garbles = true
  await t.rejects(collect(log.readStream('account-1', 0)), {
    name: 'Damaged',
    message: /holds invalid JSON at revision 0 of account-1; restore it from a backup/,
  })
})

t.test('positions that are not exact as numbers are refused', t => {
  t.equal(toPosition(String(2 ** 52 - 1)), 2 ** 53 - 2)
  for (const commit of [2n ** 52n, 2n ** 53n + 1n, 2n ** 64n - 1n])
    t.throws(() => toPosition(String(commit)), RangeError)
  t.end()
})

t.test('a process exits after closing its log, whatever was pending', async t => {
  const { server } = await startServer(t, { append: () => 'unanswered' })
  const script = `
    import { openEventStoreLog } from './src/adapters/event-log/eventstoredb.ts'
    const log = openEventStoreLog({ address: ${JSON.stringify(eventStoreAt(server.url))}, appendTimeoutMs: 200 })
    const event = { id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }
    log.append('account-1', [event], -1).catch(error => console.log(error.message))
    const stop = new AbortController()
    const following = log.follow(-1, stop.signal)[Symbol.asyncIterator]()
    await following.next()
    stop.abort()
    await log.close()
    console.log('closed')
  `
  const { code, stdout, stderr } = await new ProgramProcess(
    [...node, '--import=tsx', '--input-type=module', '-e', script],
    {},
  ).ended
  t.same({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, /did not answer an append within 200 ms\nclosed/)
})

t.test('no message contains the password', async t => {
  const { server } = await startServer(t, { append: () => ({ refuse: accessDenied() }) })
  const log = openEventStoreLog({ address: eventStoreAt(server.url.replace('://', '://ada:secret@')) })
  t.teardown(() => log.close())
  const failure = await log.append('account-1', newEvents(1), NO_STREAM).catch(error => error)
  t.match(failure, { message: /denies access/ })
  t.notMatch(String(failure.stack) + String(failure.cause?.stack), /secret/)
})

const newEvents = (count: number) =>
  Array.from({ length: count }, () => ({ id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }))
