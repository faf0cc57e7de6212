import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { Run } from '../../schemas/api/run.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import type { Reply } from '../support/client.ts'
import { accountsOn } from '../support/engine.ts'
import { auditLog } from '../support/ledger.ts'
import { type Customer, openAccount, type Service } from '../support/service.ts'
import { until } from '../support/until.ts'
import type { Fault } from '../support/vendor.ts'
import { order, syncOrder } from '../support/vendor-families.ts'
import { startVendorService } from '../support/vendor-service.ts'

const faultsOfRun = compileCheck(Run)
const HOURS_MS = 3_600_000

const { vendor, service } = await startVendorService(t)

const cancel = (customer: Customer, runId: string, prefer = 'wait=30'): Promise<Reply> =>
  customer.send(`/v1/runs/${runId}/cancel`, { method: 'POST', headers: { Prefer: prefer } })

const find = async (customer: Customer, runId: string) => (await customer.send(`/v1/runs/${runId}`)).body

const untilStatus = (customer: Customer, runId: string, status: Run['status']) =>
  until(`the run is ${status}`, async () => (await find(customer, runId)).status === status)

/** A run whose job the vendor has accepted and the service polls. */
const beginJob = async (customer: Customer, faults: Fault[] = [], workMs = HOURS_MS): Promise<string> => {
  const { body } = await customer.run(order({ workMs, faults }))
  await until('the job is polled', () => vendor.tally(body.run_id)?.polls)
  return body.run_id
}

/** The events of a run, in order. */
const eventsOf = async ({ core }: Service, customer: Customer, runId: string) => {
  const found: { type: string; revision: number }[] = []
  for await (const page of core.log.readStream(`account-${customer.accountId}`, 0))
    for (const { type, revision, data } of page)
      if ((data as { runId?: string }).runId === runId) found.push({ type, revision })
  return found
}

const typesOf = async (customer: Customer, runId: string) =>
  (await eventsOf(service, customer, runId)).map(({ type }) => type)

t.test('cancelling a queued run ends and refunds it before it starts', async t => {
  const { vendor, service } = await startVendorService(t)
  const customer = await openAccount(service)
  // These fill the slots of the provider, so the next run has to wait.
  const faults: Fault[] = [{ step: 'asked', act: 'hold' }]
  const held = await Promise.all(Array.from({ length: 64 }, () => customer.run(order({ faults }))))
  await vendor.holds(64)
  const { body } = await customer.run(order())
  t.equal(await customer.balance(), 35)

  const reply = await cancel(customer, body.run_id)
  t.equal(reply.status, 200)
  t.same(faultsOfRun(reply.body), [])
  t.match(reply.body, { run_id: body.run_id, status: 'failed', credits_charged: 1, credits_refunded: 1 })
  t.equal(reply.body.error?.code, 'cancelled')
  t.notOk('started_at' in reply.body)
  t.equal(await customer.balance(), 36)

  vendor.release()
  for (const { body } of held) await untilStatus(customer, body.run_id, 'completed')
  t.equal(vendor.tally(body.run_id), undefined)
  const events = await eventsOf(service, customer, body.run_id)
  t.same(
    events.map(({ type }) => type),
    ['CreditsDebited', 'RunQueued', 'RunFailed', 'CreditsRefunded'],
  )
  t.equal(events[3]?.revision, (events[2]?.revision ?? 0) + 1)
})

t.test('cancelling a running run stops its job at the provider and refunds it', async t => {
  const customer = await openAccount(service)
  const runId = await beginJob(customer)
  const { status, body } = await cancel(customer, runId)
  t.equal(status, 200)
  t.same(faultsOfRun(body), [])
  t.match(body, { status: 'failed', credits_refunded: 1, error: { code: 'cancelled' } })
  t.match(vendor.tally(runId), { cancellations: 1 })
  t.equal(await customer.balance(), 100)
})

t.test('the client of a cancelled sync run gets the cancelled run', async t => {
  const customer = await openAccount(service)
  for (const input of [{ workMs: HOURS_MS }, { faults: [{ step: 'asked', act: 'hold' } as const] }]) {
    const answer = customer.run(syncOrder(input), { 'Idempotency-Key': JSON.stringify(input) })
    const list = async () => (await customer.send<{ data: Run[] }>('/v1/runs?status=processing')).body.data
    const [run] = await until('the run is in progress', async () => {
      const runs = await list()
      return runs.length > 0 && runs
    })
    t.equal((await cancel(customer, String(run?.run_id))).status, 200)
    t.match((await answer).body, { run_id: run?.run_id, status: 'failed', error: { code: 'cancelled' } })
  }
  t.equal(await customer.balance(), 100)
})

t.test('a run whose provider refuses to stop returns 202 and completes', async t => {
  const customer = await openAccount(service)
  const runId = await beginJob(customer, [{ step: 'cancelled', act: 409, times: 99 }], 2500)
  const { status, headers, body } = await cancel(customer, runId, 'wait=1')
  t.equal(status, 202)
  t.equal(body.status, 'processing')
  t.equal(headers.get('Location'), `/v1/runs/${runId}`)
  await untilStatus(customer, runId, 'completed')
  t.match(await find(customer, runId), { status: 'completed', output: { text: 'hello' } })
  t.notOk('credits_refunded' in (await find(customer, runId)))
  t.equal(await customer.balance(), 99)
  t.match(vendor.tally(runId), { cancellations: 1 })
})

t.test('a run whose provider cannot cancel returns 202 and completes', async t => {
  const { service } = await startVendorService(t, { wrap: ({ cancel: _, ...provider }) => provider })
  const customer = await openAccount(service)
  const { body } = await customer.run(order({ workMs: 2000 }))
  await untilStatus(customer, body.run_id, 'processing')
  t.equal((await cancel(customer, body.run_id, 'wait=1')).status, 202)
  await untilStatus(customer, body.run_id, 'completed')
  t.equal(await customer.balance(), 99)
})

t.test('a poll that sees the cancelled job first does not change the error', async t => {
  // The provider stops the job but answers the cancellation only after the next poll.
  const slow = (provider: Provider): Provider => {
    let markPolled = () => {}
    const polled = new Promise<void>(resolve => {
      markPolled = resolve
    })
    return {
      ...provider,
      poll: async (job, signal) => {
        const answer = await (provider.poll as NonNullable<Provider['poll']>)(job, signal)
        if (answer.kind === 'failed') setImmediate(markPolled)
        return answer
      },
      cancel: async (job, signal) => {
        await provider.cancel?.(job, signal)
        await polled
      },
    }
  }
  const { service } = await startVendorService(t, { wrap: slow })
  const customer = await openAccount(service)
  const { body } = await customer.run(order({ workMs: HOURS_MS }))
  await untilStatus(customer, body.run_id, 'processing')
  t.match((await cancel(customer, body.run_id)).body, { status: 'failed', error: { code: 'cancelled' } })
  t.equal(await customer.balance(), 100)
})

t.test('a run ends as cancelled once its provider confirms, whatever later polls report', async t => {
  const working = async () => ({ kind: 'working', pollAfterMs: 100 }) as const
  const { vendor, service } = await startVendorService(t, { wrap: provider => ({ ...provider, poll: working }) })
  const customer = await openAccount(service)
  const { body } = await customer.run(order({ workMs: HOURS_MS }))
  while ((await find(customer, body.run_id)).status === 'queued');
  t.match((await cancel(customer, body.run_id)).body, { status: 'failed', error: { code: 'cancelled' } })
  t.match(vendor.tally(body.run_id), { cancellations: 1 })
  t.equal(await customer.balance(), 100)
})

t.test('an ended run cannot be cancelled', async t => {
  const customer = await openAccount(service)
  const completed = await customer.run(order(), { Prefer: 'wait=30' })
  const failed = await customer.run(order({ faults: [{ step: 'asked', act: 422 }] }), { Prefer: 'wait=30' })
  for (const { body } of [completed, failed]) {
    const reply = await cancel(customer, body.run_id)
    t.equal(reply.status, 409)
    t.equal(reply.body.error?.code, 'run_ended')
    t.same(await find(customer, body.run_id), body)
  }
  t.equal(await customer.balance(), 99)
})

t.test('cancelling a run of another account returns 404 and has no effect', async t => {
  const [owner, stranger] = [await openAccount(service), await openAccount(service)]
  const runId = await beginJob(owner)
  const headers = { 'X-Request-Id': 'the-same-for-both' }
  const ask = (id: string) => stranger.send(`/v1/runs/${id}/cancel`, { method: 'POST', headers })
  const foreign = await ask(runId)
  const absent = await ask('run_01h455vb4pex5vsknk084sn02q')
  t.equal(foreign.status, 404)
  t.equal(foreign.body.error?.code, 'run_not_found')
  t.same([foreign.status, foreign.text], [absent.status, absent.text])
  t.same(await typesOf(owner, runId), ['CreditsDebited', 'RunQueued', 'RunStarted', 'RunSubmitted'])
  t.equal((await ask('no-run')).status, 404)
  t.equal((await service.client().send(`/v1/runs/${runId}/cancel`, { method: 'POST' })).status, 401)
  t.match(vendor.tally(runId), { cancellations: 0 })
  await cancel(owner, runId)
})

t.test('a key that another process has just revoked cannot cancel', async t => {
  const customer = await openAccount(service)
  const { accountId, keyId } = customer
  const runId = await beginJob(customer)
  // The request is authenticated with a state up to a second old.
  const elsewhere = accountsOn(service.core.log)
  await elsewhere.execute({ kind: 'operator', name: 'test' }, accountId, { type: 'RevokeApiKey', keyId })
  t.match(await cancel(customer, runId), { status: 401 })
  t.notOk((await typesOf(customer, runId)).includes('RunCancelRequested'))
})

t.test('repeated cancellations get the same answer', async t => {
  const customer = await openAccount(service)
  // The provider holds the cancellation, so all requests wait at once.
  const runId = await beginJob(customer, [{ step: 'cancelled', act: 'hold' }])
  const replies = [cancel(customer, runId), cancel(customer, runId), cancel(customer, runId)]
  await until('the cancellation is held', () => vendor.tally(runId)?.held.cancelled)
  replies.push(cancel(customer, runId))
  // By now the last request has arrived; later it would find an ended run.
  await delay(300)
  vendor.release()
  const answered = await Promise.all(replies)
  t.same(new Set(answered.map(({ status }) => status)), new Set([200]))
  t.equal(new Set(answered.map(({ text }) => text)).size, 1)
  t.match(answered[0]?.body, { status: 'failed', error: { code: 'cancelled' } })
  t.match(vendor.tally(runId), { cancellations: 1 })
  const types = ['CreditsDebited', 'RunQueued', 'RunStarted', 'RunSubmitted', 'RunCancelRequested']
  t.same(await typesOf(customer, runId), [...types, 'RunFailed', 'CreditsRefunded', 'ProviderCostRecorded'])
  t.equal(await customer.balance(), 100)
})

t.test('a cancellation that races with completion leaves one outcome and its charge', async t => {
  const customer = await openAccount(service, { credits: 1000 })
  const moments = [0, 50, 100, 150, 200, 250, 500, 2000]
  const replies = await Promise.all(
    moments.flatMap(workMs =>
      moments.map(async waitMs => {
        const { body } = await customer.run(order({ workMs }))
        await delay(waitMs)
        return cancel(customer, body.run_id)
      }),
    ),
  )
  for (const { status, body } of replies)
    if (status === 409) t.equal(body.error?.code, 'run_ended')
    else t.equal(status, 200)

  const { data } = (await customer.send<{ data: Run[] }>('/v1/runs?limit=100')).body
  t.equal(data.length, replies.length)
  const ends = data.map(({ status, error, credits_refunded }) => `${status} ${error?.code} ${credits_refunded}`)
  t.same(new Set(ends), new Set(['completed undefined undefined', 'failed cancelled 1']))
  t.equal(await customer.balance(), 1000 - data.filter(({ status }) => status === 'completed').length)
  t.same((await auditLog(service.core.log)).faults, [])
})
