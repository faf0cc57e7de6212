import t from 'tap'
import { Run } from '../../schemas/api/run.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { openAccount } from '../support/service.ts'
import { until } from '../support/until.ts'
import { order } from '../support/vendor-families.ts'
import { startVendorService } from '../support/vendor-service.ts'

const faultsOfRun = compileCheck(Run)
const { vendor, service } = await startVendorService(t)

t.test('an async run returns 202 at once and can be read when it is done', async t => {
  const customer = await openAccount(service)
  const request = order({ faults: [{ step: 'asked', act: 'hold' }] })
  const { status, headers, body } = await customer.run({ ...request, metadata: { order: 7 } })
  t.equal(status, 202)
  t.same(faultsOfRun(body), [])
  t.match(body, { status: 'queued', endpoint: 'vendor-t2i', credits_charged: 1, metadata: { order: 7 } })
  t.equal(headers.get('Location'), `/v1/runs/${body.run_id}`)
  t.equal(headers.get('Retry-After'), '10')
  t.equal(await customer.balance(), 99)
  const find = () => customer.send(String(headers.get('Location')))
  await until('the run has started', async () => (await find()).body.status !== 'queued')
  t.match((await find()).body, { status: 'processing', started_at: String })

  vendor.release()
  await until('the run has ended', async () => (await find()).body.status !== 'processing')
  const found = await find()
  t.equal(found.status, 200)
  t.same(faultsOfRun(found.body), [])
  t.match(found.body, { status: 'completed', output: { text: 'hello' }, completed_at: String, metadata: { order: 7 } })
  t.match(vendor.tally(body.run_id), { submissions: 1, jobs: 1 })
  t.equal(await customer.balance(), 99)
})

t.test('a client that prefers to wait gets the finished run', async t => {
  const customer = await openAccount(service)
  const { status, headers, body } = await customer.run(order({ workMs: 200 }), { Prefer: 'wait=30' })
  t.equal(status, 200)
  t.equal(headers.get('Preference-Applied'), 'wait=30')
  t.equal(headers.get('Location'), null)
  t.match(body, { status: 'completed', output: { text: 'hello' } })
})

t.test('a wait that is too short ends with 202 and the run continues', async t => {
  const customer = await openAccount(service)
  const request = order({ faults: [{ step: 'polled', act: 'hold' }] })
  const { status, body } = await customer.run(request, { Prefer: 'wait=1' })
  t.equal(status, 202)
  t.equal(body.status, 'processing')
  vendor.release()
  const find = () => customer.send(`/v1/runs/${body.run_id}`)
  await until('the run is completed', async () => (await find()).body.status === 'completed')
})

t.test('repeated requests with one idempotency key make one run and one job', async t => {
  const customer = await openAccount(service)
  const headers = { 'Idempotency-Key': 'once', Prefer: 'wait=30' }
  const [first, second] = await Promise.all([customer.run(order(), headers), customer.run(order(), headers)])
  t.equal(first.text, second.text)
  t.equal(first.status, 200)
  t.equal((await customer.run(order(), headers)).headers.get('Idempotent-Replayed'), 'true')
  t.match(vendor.tally(first.body.run_id), { submissions: 1, jobs: 1 })
  t.equal(await customer.balance(), 99)
})

t.test('a run that the provider rejects fails and is refunded', async t => {
  const customer = await openAccount(service)
  const request = order({ faults: [{ step: 'asked', act: 422 }] })
  const { status, body } = await customer.run(request, { Prefer: 'wait=30' })
  t.equal(status, 200)
  t.same(faultsOfRun(body), [])
  t.match(body, { status: 'failed', credits_refunded: 1, error: { code: 'content_rejected' } })
  t.equal(await customer.balance(), 100)
})
