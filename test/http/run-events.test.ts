import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import { Run } from '../../schemas/api/run.ts'
import { MAX_STREAMS } from '../../schemas/primitives.ts'
import { type RowWait, Watch } from '../../src/engine/views/watch.ts'
import type { RowAddress } from '../../src/ports/view-store.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { withoutInput } from '../support/client.ts'
import { type Customer, openAccount, type Service } from '../support/service.ts'
import { until, withDeadline } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'
import type { Fault, Step } from '../support/vendor.ts'
import { order } from '../support/vendor-families.ts'
import { startVendorService } from '../support/vendor-service.ts'

const faultsOfRun = compileCheck(Run)

const { vendor, service } = await startVendorService(t)

interface StreamedEvent {
  name: string
  id: string
  data: Run & { progress: number }
}

/** Streams the events of a run. Leaving the loop disconnects. */
async function* listen(customer: Customer, runId: string, lastEventId?: string): AsyncGenerator<StreamedEvent> {
  const answer = await open(customer, runId, lastEventId)
  let text = ''
  for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map(line => line.split(/: ?(.*)/s, 2)))
      if (fields.data !== undefined) yield { name: fields.event, id: fields.id, data: JSON.parse(fields.data) }
    }
  }
}

const open = (customer: Customer, runId: string, lastEventId?: string) =>
  fetch(`${customer.url}/v1/runs/${runId}/events`, {
    headers: {
      Authorization: `Bearer ${customer.apiKey}`,
      ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }),
    },
  })

const collect = async (events: AsyncGenerator<StreamedEvent>): Promise<StreamedEvent[]> => {
  const all: StreamedEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

const next = async (events: AsyncGenerator<StreamedEvent>): Promise<StreamedEvent> => {
  const { value } = await events.next()
  return value
}

/** Starts a run that the vendor holds at a step until `vendor.release()`. */
const hold = async (customer: Customer, step: Step, workMs = 0): Promise<string> => {
  const faults: Fault[] = [{ step, act: 'hold' }]
  const { body } = await customer.run(order({ workMs, faults }))
  await until(`the run is held when ${step}`, () => vendor.tally(body.run_id)?.held[step])
  return body.run_id
}

/** The revisions of a run's events, by type. */
const revisionsOf = async ({ core }: Service, customer: Customer, runId: string) => {
  const revisions: Record<string, string> = {}
  for await (const page of core.log.readStream(`account-${customer.accountId}`, 0))
    for (const { type, revision, data } of page)
      if ((data as { runId?: string }).runId === runId) revisions[type] = String(revision)
  return revisions
}

t.test('the stream sends the current run and every change until the run ends', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked')
  const answer = await open(customer, runId)
  t.equal(answer.status, 200)
  t.match(answer.headers.get('Content-Type'), /^text\/event-stream/)
  await answer.body?.cancel()

  const events = listen(customer, runId)
  const first = await next(events)
  vendor.release()
  const rest = (await collect(events)).filter(({ name }) => name === 'run')
  const received = [first, ...rest]
  for (const { name, data } of received) {
    t.equal(name, 'run')
    t.same(faultsOfRun(data), [])
  }
  t.same(
    received.map(({ data }) => data.status),
    ['processing', 'completed'],
  )
  const { RunStarted, RunCompleted } = await revisionsOf(service, customer, runId)
  t.same(
    received.map(({ id }) => id),
    [RunStarted, RunCompleted],
  )
  t.same(received.at(-1)?.data, withoutInput((await customer.send(`/v1/runs/${runId}`)).body))
})

t.test('the stream ends at the next change after its key is revoked, and tells no progress until then', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked', 1000)
  const events = listen(customer, runId)
  t.match(await next(events), { name: 'run', data: { status: 'processing' } })
  const operator = { kind: 'operator', name: 'test' } as const
  unwrap(await service.core.services.keys.revoke(operator, customer.accountId, customer.keyId))
  vendor.release()
  t.same(await collect(events), [])
})

t.test('the stream of a run that does not change ends once its key is revoked or its account suspended', async t => {
  const operator = { kind: 'operator', name: 'test' } as const
  const { keys, accounts } = service.core.services
  for (const end of [
    ({ accountId, keyId }: Customer) => keys.revoke(operator, accountId, keyId),
    ({ accountId }: Customer) => accounts.suspend(operator, accountId, 'unpaid'),
  ]) {
    const customer = await openAccount(service)
    const events = listen(customer, await hold(customer, 'asked'))
    t.match(await next(events), { name: 'run', data: { status: 'processing' } })
    unwrap(await end(customer))
    t.same(await withDeadline('the stream ends', collect(events)), [])
  }
  vendor.release()
})

t.test('the stream of a queued run sends its start and its failure', async t => {
  const { vendor, service } = await startVendorService(t)
  const customer = await openAccount(service)
  const faults: Fault[] = [{ step: 'asked', act: 'hold' }]
  await Promise.all(Array.from({ length: 64 }, () => customer.run(order({ faults }))))
  await vendor.holds(64)
  const { body } = await customer.run(order({ faults: [{ step: 'asked', act: 422 }] }))
  const events = listen(customer, body.run_id)
  const first = await next(events)
  vendor.release()
  const received = [first, ...(await collect(events))]
  t.match(received[0]?.data, { status: 'queued' })
  t.match(received.at(-1)?.data, { status: 'failed', credits_refunded: 1, error: { code: 'content_rejected' } })
  const { RunQueued, CreditsRefunded } = await revisionsOf(service, customer, body.run_id)
  t.same([received[0]?.id, received.at(-1)?.id], [RunQueued, CreditsRefunded])
})

t.test('the stream of an ended run sends the run once and ends', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run(order(), { Prefer: 'wait=30' })
  const received = await collect(listen(customer, body.run_id))
  t.same(
    received.map(({ data }) => data),
    [withoutInput(body)],
  )
})

t.test('a client that reconnects gets only new events', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked')
  const before = listen(customer, runId)
  const { id } = await next(before)
  await before.return(undefined)

  const again = collect(listen(customer, runId, id))
  vendor.release()
  const received = (await again).filter(({ name }) => name === 'run')
  t.same(
    received.map(({ data }) => data.status),
    ['completed'],
  )
  const { RunCompleted } = await revisionsOf(service, customer, runId)
  t.equal(received[0]?.id, RunCompleted)

  t.same(
    (await collect(listen(customer, runId, id))).map(each => each.id),
    [RunCompleted],
  )
  const done = await open(customer, runId, RunCompleted)
  t.equal(done.status, 204)
  t.equal(await done.text(), '')
})

t.test('progress goes from 0 to 1 with the id of the last change', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked', 1000)
  const events = listen(customer, runId)
  const { id } = await next(events)
  vendor.release()
  const received = await collect(events)
  const progress = received.filter(({ name }) => name === 'progress')
  t.ok(progress.length > 1)
  for (const { id: of, data } of progress) {
    t.equal(of, id)
    t.equal(data.run_id, runId)
    t.ok(data.progress >= 0 && data.progress <= 1, `${data.progress}`)
  }
  const steps = progress.map(({ data }) => data.progress)
  t.same(
    steps,
    steps.toSorted((one, other) => one - other),
  )
  t.equal(received.at(-1)?.name, 'run')
})

t.test('a stream carries only the progress of its own run', async t => {
  const customer = await openAccount(service)
  const quiet = await hold(customer, 'asked')
  const events = listen(customer, quiet)
  await next(events)
  await customer.run(order({ workMs: 500 }), { Prefer: 'wait=30' })
  vendor.release()
  // The run is done at its first poll, so any progress would belong to the other run.
  t.same(
    (await collect(events)).map(({ name }) => name),
    ['run'],
  )
})

t.test('a run of another account is reported as absent', async t => {
  const [owner, stranger] = [await openAccount(service), await openAccount(service)]
  const { body } = await owner.run(order(), { Prefer: 'wait=30' })
  const headers = { 'X-Request-Id': 'the-same-for-both' }
  const ask = (id: string) => stranger.send(`/v1/runs/${id}/events`, { headers })
  const foreign = await ask(body.run_id)
  const absent = await ask('run_01h455vb4pex5vsknk084sn02q')
  t.equal(foreign.status, 404)
  t.equal(foreign.body.error?.code, 'run_not_found')
  t.same([foreign.status, foreign.text], [absent.status, absent.text])
  t.equal((await ask('no-run')).status, 404)
  t.equal((await service.client().send(`/v1/runs/${body.run_id}/events`)).status, 401)
})

t.test('wait ends when the client disconnects', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked')
  const waits: RowWait[] = []
  const { begin } = Watch.prototype
  t.intercept(Watch.prototype, 'begin', {
    value(this: Watch, ...args: Parameters<Watch['begin']>) {
      const wait = begin.apply(this, args)
      waits.push(wait)
      return wait
    },
  })
  const events = Array.from({ length: 5 }, () => listen(customer, runId))
  for (const each of events) await next(each)
  t.equal(waits.length, 1, 'the streams share a wait')
  for (const each of events) await each.return(undefined)
  // The run is held, so only the disconnects can have ended the wait.
  t.equal(await waits[0]?.changed, false)
  vendor.release()
})

t.test('all streams of a run share one read of its end', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'polled')
  const streams = Array.from({ length: 50 }, () => listen(customer, runId))
  for (const each of streams) t.match((await next(each)).data, { status: 'processing' })
  const { views } = service.core
  const { getMany } = views
  let reads = 0
  t.teardown(() => Object.assign(views, { getMany }))
  Object.assign(views, {
    getMany: (rows: RowAddress[]) => {
      // The projector reads several rows at a time.
      if (rows.length === 1 && rows[0]?.view === 'runs') reads += 1
      return getMany(rows)
    },
  })
  vendor.release()
  for (const received of await Promise.all(streams.map(collect)))
    t.match(received.at(-1), { name: 'run', data: { run_id: runId, status: 'completed' } })
  t.equal(reads, 1)
})

t.test('stopping the service ends the stream', async t => {
  const { vendor, service } = await startVendorService(t)
  const customer = await openAccount(service)
  const { body } = await customer.run(order({ faults: [{ step: 'polled', act: 'hold' }] }))
  await until('the poll is held', () => vendor.tally(body.run_id)?.held.polled)
  const events = listen(customer, body.run_id)
  t.match((await next(events)).data, { status: 'processing' })
  const rest = collect(events)
  await service.stop()
  t.same(await rest, [])
})

t.test('an account has a limited number of streams, of runs and of calls together', async t => {
  const [customer, other] = [await openAccount(service), await openAccount(service)]
  const [runId, othersRun] = [await hold(customer, 'polled'), await hold(other, 'polled')]
  const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, () => open(customer, runId)))
  t.ok(streams.every(({ status }) => status === 200))
  const refused = await open(customer, runId)
  t.equal(refused.status, 429)
  t.equal(((await refused.json()) as ErrorBody).error.code, 'rate_limited')
  const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  t.equal((await customer.post('/mcp', message, headers)).status, 429)
  t.equal((await customer.post('/mcp', message)).status, 200)
  const othersStream = await open(other, othersRun)
  t.equal(othersStream.status, 200)
  await othersStream.body?.cancel()
  await streams[0]?.body?.cancel()
  await until('there is room for a stream', async () => {
    const again = await open(customer, runId)
    await again.body?.cancel()
    return again.status === 200
  })
  for (const { body } of streams.slice(1)) await body?.cancel()
  vendor.release()
})
