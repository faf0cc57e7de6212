import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { openEventStoreLog } from '../../../../src/adapters/event-log/eventstoredb.ts'
import { NO_STREAM } from '../../../../src/ports/event-log.ts'
import { collect } from '../../../support/collect.ts'
import { openLog } from '../../../support/engine.ts'
import { type Faults, streamDeleted, timedOut } from '../../../support/event-store/faults.ts'
import { startEventStoreServer } from '../../../support/event-store/server.ts'
import { ScriptProcess } from '../../../support/service-process.ts'
import { eventStoreAt } from '../../../support/store-addresses.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

// The stand-in must behave like EventStoreDB to the vendor's client too.

const open = async (t: Test, faults: Faults = {}) => {
  const server = await startEventStoreServer({ log: await openLog(t), faults })
  const client = EventStoreDBClient.connectionString(server.url)
  t.teardown(() => server.close())
  t.teardown(() => client.dispose())
  return { server, client }
}

/** The client uses a different append method with and without credentials. */
const methods = { Append: { credentials: { username: 'ada', password: 'secret' } }, BatchAppend: {} }

for (const [method, options] of Object.entries(methods)) {
  t.test(`${method} writes, refuses and repeats like the server`, async t => {
    const { client, server } = await open(t)
    const events = newEvents(3)
    const first = await client.appendToStream('one', events, { expectedRevision: 'no_stream', ...options })
    t.match(first, { success: true, nextExpectedRevision: 2n })
    t.equal(first.position?.commit, first.position?.prepare)
    t.same(await client.appendToStream('one', events, { expectedRevision: 'no_stream', ...options }), first)
    t.same(await client.appendToStream('one', events, { expectedRevision: 'any', ...options }), first)
    for (const [expectedRevision, expectedVersion] of [
      ['no_stream', 'no_stream'],
      [1n, 1n],
      [7n, 7n],
    ] as const)
      t.match(await failureOf(client.appendToStream('one', newEvents(1), { expectedRevision, ...options })), {
        type: 'wrong-expected-version',
        actualVersion: 2n,
        expectedVersion,
      })
    t.match(
      await failureOf(client.appendToStream('two', newEvents(1), { expectedRevision: 'stream_exists', ...options })),
      {
        type: 'wrong-expected-version',
        actualVersion: 'no_stream',
      },
    )
    t.match(await failureOf(client.appendToStream('two', newEvents(2, 'x'.repeat(600_000)), options)), {
      type: 'maximum-append-size-exceeded',
      maxAppendSize: 1024 * 1024,
    })
    server.faults.append = () => ({ refuse: streamDeleted('one') })
    t.match(await failureOf(client.appendToStream('one', newEvents(1), options)), { type: 'stream-deleted' })
    const late = method === 'Append' ? 'timeout' : 'deadline-exceeded'
    server.faults.append = () => ({ refuse: timedOut() })
    t.match(await failureOf(client.appendToStream('one', newEvents(1), options)), { type: late })
    const all = await collect(pageOf(client.readAll()))
    t.same(
      all.map(({ event }) => event?.id),
      events.map(({ id }) => id),
    )
    t.equal(all.at(-1)?.event?.position?.commit, first.position?.commit)
  })
}

t.test('streams are read in both directions, and a missing one is not found', async t => {
  const { client } = await open(t)
  await client.appendToStream('one', newEvents(5))
  await client.appendToStream('two', newEvents(5))
  const revisions = async (options: object) =>
    (await collect(pageOf(client.readStream('one', options)))).map(({ event }) => Number(event?.revision))
  t.same(await revisions({ fromRevision: 3n }), [3, 4])
  t.same(await revisions({ maxCount: 2 }), [0, 1])
  t.same(await revisions({ direction: 'backwards', fromRevision: 'end', maxCount: 2 }), [4, 3])
  t.same(await revisions({ direction: 'backwards', fromRevision: 1n }), [1, 0])
  t.match(await failureOf(collect(pageOf(client.readStream('three')))), { type: 'stream-not-found' })

  const forwards = (await collect(pageOf(client.readAll()))).map(({ event }) => event?.position?.commit ?? 0n)
  const backwards = await collect(pageOf(client.readAll({ direction: 'backwards', fromPosition: 'end' })))
  t.same(backwards.map(({ event }) => event?.position?.commit).toReversed(), forwards)
  t.ok(
    forwards.every((commit, index) => index === 0 || commit > (forwards[index - 1] ?? 0n) + 1n),
    'with gaps',
  )
  const [, second = 0n] = forwards
  t.match(
    await failureOf(collect(pageOf(client.readAll({ fromPosition: { commit: second - 1n, prepare: second - 1n } })))),
    { message: /invalid position/ },
    'no event begins there',
  )
})

t.test('it also runs as a separate process, which keeps its data', async t => {
  const folder = await temporaryFolder(t)
  const start = async () => {
    const server = new ScriptProcess('test/support/event-store/process.ts', [folder], {})
    t.teardown(() => server.end('SIGKILL'))
    const [, url = ''] = await server.until(/"url":"([^"]+)"/)
    return { server, log: openEventStoreLog({ address: eventStoreAt(url) }) }
  }
  const event = { id: crypto.randomUUID(), type: 'SomethingHappened', data: {}, metadata: {} }
  const first = await start()
  await first.log.append('account-1', [event], NO_STREAM)
  await first.log.close()
  const { code, stderr } = await first.server.end('SIGTERM')
  t.same({ code, stderr }, { code: 0, stderr: '' })
  const second = await start()
  t.equal((await collect(second.log.readStream('account-1', 0)))[0]?.id, event.id)
  await second.log.close()
})

const newEvents = (count: number, text = '') =>
  Array.from({ length: count }, () => jsonEvent({ type: 'SomethingHappened', data: { text }, metadata: {} }))

/** Items as pages of one. */
async function* pageOf<Item>(items: AsyncIterable<Item>) {
  for await (const item of items) yield [item]
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    error => error,
  )
