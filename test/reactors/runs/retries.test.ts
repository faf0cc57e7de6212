import t, { type Test } from 'tap'
import type { Endpoint } from '../../../schemas/catalog.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { type Customer, instantProvider, openAccount } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import type { Fault } from '../../support/vendor.ts'
import { order, syncOrder, vendorFamily } from '../../support/vendor-families.ts'
import { startVendorService } from '../../support/vendor-service.ts'

/** Three attempts with almost no wait between them. */
const retry = { attempts: 3, backOffMs: 1 }

const start = async (t: Test, differences: Partial<Endpoint> = {}, wrap = (provider: Provider) => provider) => {
  const family = vendorFamily('vendor', { retry, ...differences })
  const { vendor, service } = await startVendorService(t, { family, wrap })
  return { vendor, customer: await openAccount(service) }
}

const { vendor, customer } = await start(t)

const wait = { Prefer: 'wait=30' }

/** A failed and refunded run. */
const failedWith = (code: string) => ({ status: 'failed', credits_refunded: 1, error: { code } })

const findEnd = (customer: Customer, runId: string) =>
  until('the run has ended', async () => {
    const { body } = await customer.send(`/v1/runs/${runId}`)
    return (body.status === 'completed' || body.status === 'failed') && body
  })

const bothModes = { async: order, sync: syncOrder }

for (const [mode, orderIn] of Object.entries(bothModes)) {
  const run = (...faults: Fault[]) => customer.run(orderIn({ faults }), wait)

  t.test(`${mode}: a request to a busy provider is retried`, async t => {
    const { body } = await run({ step: 'asked', act: 503, times: 2 })
    t.equal(body.status, 'completed')
    t.match(vendor.tally(body.run_id), { submissions: 3, jobs: 1 })
  })

  t.test(`${mode}: a request is retried after a lost connection`, async t => {
    const { body } = await run({ step: 'asked', act: 'lose', times: 2 })
    t.equal(body.status, 'completed')
    t.match(vendor.tally(body.run_id), { submissions: 3, jobs: 1 })
  })

  t.test(`${mode}: a lost answer does not create a second job`, async t => {
    const { body } = await run({ step: 'taken', act: 'lose', times: 2 })
    t.equal(body.status, 'completed')
    t.match(vendor.tally(body.run_id), { submissions: 3, jobs: 1 })
  })

  t.test(`${mode}: retries stop at the limit of the endpoint`, async t => {
    const before = await customer.balance()
    const { body } = await run({ step: 'asked', act: 503, times: 99 })
    t.match(body, failedWith('provider_error'))
    t.match(vendor.tally(body.run_id), { submissions: 3, jobs: 0 })
    t.equal(await customer.balance(), before)
  })

  t.test(`${mode}: a rejected request is not retried`, async t => {
    const { body } = await run({ step: 'asked', act: 422, times: 99 })
    t.match(body, failedWith('content_rejected'))
    t.match(vendor.tally(body.run_id), { submissions: 1, jobs: 0 })
  })

  t.test(`${mode}: a job is polled until it ends and never submitted again`, async t => {
    const { body } = await run({ step: 'polled', act: 503 })
    t.equal(body.status, 'completed')
    t.match(vendor.tally(body.run_id), { submissions: 1, jobs: 1, polls: 2 })
  })
}

t.test('each wait doubles the one before', async t => {
  const { vendor, customer } = await start(t, { retry: { attempts: 4, backOffMs: 100 } })
  const startMs = performance.now()
  const { body } = await customer.run(order({ faults: [{ step: 'asked', act: 503, times: 3 }] }), wait)
  t.equal(body.status, 'completed')
  t.equal(vendor.tally(body.run_id)?.submissions, 4)
  // 100, 200 and 400 ms. Timers may fire a millisecond early; a slow machine only lengthens the time.
  t.ok(performance.now() - startMs > 690)
})

t.test('a late job fails, is refunded and is cancelled at the provider', async t => {
  const { vendor, customer } = await start(t, { timeoutMs: 500 })
  const { body } = await customer.run(order({ workMs: 3_600_000 }), wait)
  t.match(body, failedWith('provider_timeout'))
  t.equal(await customer.balance(), 100)
  await until('the job is cancelled', () => vendor.tally(body.run_id)?.cancellations)
  t.match(vendor.tally(body.run_id), { jobs: 1, cancellations: 1 })
})

t.test('a provider that does not answer the cancellation is not waited for', async t => {
  const { vendor, customer } = await start(t, { timeoutMs: 500 })
  const faults: Fault[] = [{ step: 'cancelled', act: 'hold' }]
  const { body } = await customer.run(order({ workMs: 3_600_000, faults }), wait)
  t.match(body, failedWith('provider_timeout'))
  await until('the cancellation is held', () => vendor.tally(body.run_id)?.held.cancelled)
  t.equal(await customer.balance(), 100)
})

for (const [mode, orderIn] of Object.entries(bothModes))
  t.test(`${mode}: a provider that ignores its signal does not delay the deadline`, async t => {
    const unresponsive = (): Provider => ({ ...instantProvider, submit: () => new Promise(() => undefined) })
    const { customer } = await start(t, { timeoutMs: 500 }, unresponsive)
    // More runs than slots: each run that times out frees a slot.
    const runs = await Promise.all(Array.from({ length: 70 }, () => customer.run(orderIn(), { Prefer: 'wait=1' })))
    for (const { body } of runs) t.match(await findEnd(customer, body.run_id), failedWith('provider_timeout'))
    t.equal(await customer.balance(), 100)
  })

t.test('a job whose polls never answer ends at its deadline', async t => {
  const unresponsive = (provider: Provider): Provider => ({ ...provider, poll: () => new Promise(() => undefined) })
  const { vendor, customer } = await start(t, { timeoutMs: 500 }, unresponsive)
  const { body } = await customer.run(order(), wait)
  t.match(body, failedWith('provider_timeout'))
  t.match(vendor.tally(body.run_id), { jobs: 1, polls: 0 })
  t.equal(await customer.balance(), 100)
})

t.test('a failure without a message ends the run', async t => {
  const silent = (): Provider => ({
    ...instantProvider,
    submit: async () => ({ kind: 'failed', code: 'content_rejected', message: '' }),
  })
  const { customer } = await start(t, {}, silent)
  t.match((await customer.run(order(), wait)).body, failedWith('content_rejected'))
  t.equal(await customer.balance(), 100)
})

t.test('a failure message that is cut inside a character ends the run', async t => {
  const verbose = (): Provider => ({
    ...instantProvider,
    submit: async () => ({ kind: 'failed', code: 'content_rejected', message: `${'x'.repeat(999)}🌍 and so on` }),
  })
  const { customer } = await start(t, {}, verbose)
  const { body } = await customer.run(order(), wait)
  t.match(body, failedWith('content_rejected'))
  t.ok(body.error?.message.isWellFormed())
})
