import t from 'tap'
import { Run } from '../../schemas/api/run.ts'
import { compileCheck } from '../../src/engine/validator.ts'
import { type Waiting, Watch } from '../../src/engine/views/watch.ts'
import { type Customer, openAccount, type Service } from '../support/service.ts'
import type { Fault, Step } from '../support/vendor.ts'
import { order } from '../support/vendor-families.ts'
import { startVendorService } from '../support/vendor-service.ts'

const faultsOfRun = compileCheck(Run)

const { vendor, service } = await startVendorService(t)

interface Told {
  name: string
  id: string
  data: Run & { progress: number }
}

/** The events of a run as they come. Leaving the loop hangs up. */
async function* listen(customer: Customer, runId: string, lastEventId?: string): AsyncGenerator<Told> {
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

const collect = async (events: AsyncGenerator<Told>): Promise<Told[]> => {
  const all: Told[] = []
  for await (const event of events) all.push(event)
  return all
}

const next = async (events: AsyncGenerator<Told>): Promise<Told> => {
  const { value } = await events.next()
  return value
}

/** A run that stands still at a step until the vendor lets it go on. */
const hold = async (customer: Customer, step: Step, workMs = 0): Promise<string> => {
  const faults: Fault[] = [{ step, act: 'hold' }]
  const { body } = await customer.run(order({ workMs, faults }))
  while (!vendor.tally(body.run_id)?.held[step]) await new Promise(setImmediate)
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

t.test('a run is told as it is, and at each change, until it has ended', async t => {
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
  const told = [first, ...rest]
  for (const { name, data } of told) {
    t.equal(name, 'run')
    t.same(faultsOfRun(data), [])
  }
  t.same(
    told.map(({ data }) => data.status),
    ['processing', 'completed'],
  )
  const { RunStarted, RunCompleted } = await revisionsOf(service, customer, runId)
  t.same(
    told.map(({ id }) => id),
    [RunStarted, RunCompleted],
  )
  t.same(told.at(-1)?.data, (await customer.send(`/v1/runs/${runId}`)).body)
})

t.test('a queued run is told of its start, and of its failure', async t => {
  const { vendor, service } = await startVendorService(t)
  const customer = await openAccount(service)
  const faults: Fault[] = [{ step: 'asked', act: 'hold' }]
  await Promise.all(Array.from({ length: 64 }, () => customer.run(order({ faults }))))
  await vendor.holds(64)
  const { body } = await customer.run(order({ faults: [{ step: 'asked', act: 422 }] }))
  const events = listen(customer, body.run_id)
  const first = await next(events)
  vendor.release()
  const told = [first, ...(await collect(events))]
  t.match(told[0]?.data, { status: 'queued' })
  t.match(told.at(-1)?.data, { status: 'failed', credits_refunded: 1, error: { code: 'content_rejected' } })
  const { RunQueued, CreditsRefunded } = await revisionsOf(service, customer, body.run_id)
  t.same([told[0]?.id, told.at(-1)?.id], [RunQueued, CreditsRefunded])
})

t.test('a run that has ended is told once, and the stream ends', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run(order(), { Prefer: 'wait=30' })
  const told = await collect(listen(customer, body.run_id))
  t.same(
    told.map(({ data }) => data),
    [body],
  )
})

t.test('a client that comes back is told only what is new', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked')
  const before = listen(customer, runId)
  const { id } = await next(before)
  await before.return(undefined)

  const again = collect(listen(customer, runId, id))
  vendor.release()
  const told = (await again).filter(({ name }) => name === 'run')
  t.same(
    told.map(({ data }) => data.status),
    ['completed'],
  )
  const { RunCompleted } = await revisionsOf(service, customer, runId)
  t.equal(told[0]?.id, RunCompleted)

  t.same(
    (await collect(listen(customer, runId, id))).map(each => each.id),
    [RunCompleted],
  )
  const done = await open(customer, runId, RunCompleted)
  t.equal(done.status, 204)
  t.equal(await done.text(), '')
})

t.test('progress is told from 0 to 1, as of the change before', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked', 1000)
  const events = listen(customer, runId)
  const { id } = await next(events)
  vendor.release()
  const told = await collect(events)
  const progress = told.filter(({ name }) => name === 'progress')
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
  t.equal(told.at(-1)?.name, 'run')
})

t.test('nobody is told of another’s progress', async t => {
  const customer = await openAccount(service)
  const quiet = await hold(customer, 'asked')
  const events = listen(customer, quiet)
  await next(events)
  await customer.run(order({ workMs: 500 }), { Prefer: 'wait=30' })
  vendor.release()
  // It is done when it is first asked after, so that any progress is another's.
  t.same(
    (await collect(events)).map(({ name }) => name),
    ['run'],
  )
})

t.test('the run of somebody else is answered as one that does not exist', async t => {
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

t.test('nobody waits any more for a client that has hung up', async t => {
  const customer = await openAccount(service)
  const runId = await hold(customer, 'asked')
  const waitings: Waiting[] = []
  const { begin } = Watch.prototype
  t.intercept(Watch.prototype, 'begin', {
    value(this: Watch, ...args: Parameters<Watch['begin']>) {
      const waiting = begin.apply(this, args)
      waitings.push(waiting)
      return waiting
    },
  })
  const events = Array.from({ length: 5 }, () => listen(customer, runId))
  for (const each of events) await next(each)
  t.equal(waitings.length, 5)
  for (const each of events) await each.return(undefined)
  // The run stands still, so that only the hanging up can have ended them.
  const changed = await Promise.all(waitings.map(waiting => waiting.changed))
  t.same(changed, Array(5).fill(false))
  vendor.release()
})

t.test('a stop of the service ends the stream', async t => {
  const { vendor, service } = await startVendorService(t)
  const customer = await openAccount(service)
  const { body } = await customer.run(order({ faults: [{ step: 'polled', act: 'hold' }] }))
  while (!vendor.tally(body.run_id)?.held.polled) await new Promise(setImmediate)
  const events = listen(customer, body.run_id)
  t.match((await next(events)).data, { status: 'processing' })
  const rest = collect(events)
  await service.stop()
  t.same(await rest, [])
})
