import t, { type Test } from 'tap'
import { verifyLog } from '../../../src/audit/verify/verify.ts'
import type { Failed, Job, Provider, ProviderOutcome, Submitted } from '../../../src/ports/provider.ts'
import { boundTo } from '../../support/bound-to.ts'
import { collect } from '../../support/collect.ts'
import { doneFor } from '../../support/done.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { offer, order, syncOrder, vendorFamily } from '../../support/vendor-families.ts'
import { startOpenAi } from '../../support/vendors/openai.ts'

const retry = { attempts: 2, backOffMs: 1 }
const family = vendorFamily('vendor', { retry })
const bindingsOf = (endpoint: string) => ['first', 'second'].flatMap(provider => boundTo(provider)(endpoint))

/** A vendor's account: unlike the test vendor, it does not know a job that is submitted again. */
const vendor = (answer: (job: Job) => Promise<ProviderOutcome | Submitted>) => {
  const jobs: Job[] = []
  const provider: Provider = {
    submit: job => {
      jobs.push(job)
      return answer(job)
    },
    poll: async job => doneFor({ ...job, input: {} }, 'polled'),
    close: async () => undefined,
  }
  return { jobs, provider }
}

const done = vendor(async job => doneFor(job))

const start = async (t: Test, first: Provider, second: Provider, folder?: string) => {
  const service = await startService(t, { ...(folder && { folder }), providers: { first, second }, bindingsOf })
  if (!folder || !(await service.core.offers.find('vendor', false))) await offer(service.core, family)
  const customer = await openAccount(service)
  const eventsOf = async (type: string) =>
    (await collect(service.core.log.readStream(`account-${customer.accountId}`, 0))).filter(each => each.type === type)
  return { service, customer, eventsOf }
}

const overloaded: Failed = {
  ...{ kind: 'failed', code: 'provider_error', message: 'The provider is not available now.', retryable: true },
  fault: { kind: 'overloaded' },
}

for (const [mode, orderIn] of Object.entries({ async: order, sync: syncOrder })) {
  t.test(`${mode}: a run that a provider cannot take goes to the next one, and the log names both`, async t => {
    const busy = vendor(async () => overloaded)
    const { customer, eventsOf } = await start(t, busy.provider, done.provider)
    const { body } = await customer.run(orderIn(), { Prefer: 'wait=30' })
    t.match(body, { status: 'completed', provider: 'second' })
    t.equal(busy.jobs.length, 1)
    t.match(await eventsOf('RunStarted'), [{ data: { upstream: { provider: 'first', model: 'test' } } }])
    t.match(await eventsOf('RunCompleted'), [{ data: { upstream: { provider: 'second', model: 'test' } } }])
    t.equal((await eventsOf('CreditsDebited')).length, 1)
  })

  t.test(`${mode}: a run that a provider rejects goes to no other`, async t => {
    const rejecting = vendor(async () => ({ kind: 'failed', code: 'content_rejected', message: 'No.' }))
    const other = vendor(async () => overloaded)
    const { customer } = await start(t, rejecting.provider, other.provider)
    const { body } = await customer.run(orderIn(), { Prefer: 'wait=30' })
    t.match(body, { status: 'failed', provider: 'first', error: { code: 'content_rejected' }, credits_refunded: 1 })
    t.equal(other.jobs.length, 0)
  })

  t.test(`${mode}: a run that a provider may have accepted is submitted once, and refunded`, async t => {
    const losing = vendor(async () => {
      throw new Error('the connection was cut')
    })
    const other = vendor(async () => overloaded)
    const { customer } = await start(t, losing.provider, other.provider)
    const { body } = await customer.run(orderIn(), { Prefer: 'wait=30' })
    t.match(body, { status: 'failed', provider: 'first', error: { code: 'interrupted' }, credits_refunded: 1 })
    t.equal(losing.jobs.length, 1)
    t.equal(other.jobs.length, 0)
  })

  t.test(`${mode}: a run that no provider takes fails after the attempts of its endpoint`, async t => {
    const busy = [vendor(async () => overloaded), vendor(async () => overloaded)] as const
    const { customer } = await start(t, busy[0].provider, busy[1].provider)
    const { body } = await customer.run(orderIn(), { Prefer: 'wait=30' })
    t.match(body, { status: 'failed', error: { code: 'provider_error' }, credits_refunded: 1 })
    t.same(
      busy.map(({ jobs }) => jobs.length),
      [2, 2],
    )
  })

  t.test(
    `${mode}: a job that a provider may have accepted before the service stopped is not submitted again`,
    async t => {
      const folder = await temporaryFolder(t)
      const hanging = vendor(() => new Promise(() => undefined))
      const before = await start(t, hanging.provider, done.provider, folder)
      const running = before.customer.run(orderIn(), { Prefer: 'wait=1' }).catch(() => undefined)
      await until('the job is submitted', () => hanging.jobs.length === 1)
      await before.service.stop()
      await running
      const again = vendor(async job => doneFor(job, 'again'))
      const after = await startService(t, {
        folder,
        providers: { first: again.provider, second: again.provider },
        bindingsOf,
      })
      const { data } = (await before.customer.at(after.url).send<{ data: object[] }>('/v1/runs')).body
      t.match(data, [{ status: 'failed', error: { code: 'interrupted' }, credits_refunded: 1 }])
      t.equal(again.jobs.length, 0)
    },
  )
}

for (const [mode, orderIn] of Object.entries({ async: order, sync: syncOrder })) {
  const price = { currency: 'USD', units: [{ unit: 'workMs', micros: 40_000, per: 1 }] }
  const pricedAt = (endpoint: string) => bindingsOf(endpoint).map(binding => ({ ...binding, price }))
  const startPriced = async (t: Test, provider: Provider) => {
    const service = await startService(t, { providers: { first: provider }, bindingsOf: pricedAt })
    await offer(service.core, family)
    const customer = await openAccount(service)
    const run = async () => (await customer.run(orderIn({ workMs: 3 }), { Prefer: 'wait=30' })).body
    const events = async () => {
      const all = await collect(service.core.log.readStream(`account-${customer.accountId}`, 0))
      return all.slice(-3).map(({ type, data }) => ({ type, data }))
    }
    return { run, events, verify: () => verifyLog(service.core.log, { isDense: true }) }
  }
  const worker = { provider: 'first', model: 'test', account: 'first' }

  t.test(`${mode}: what a run costs is recorded with its end`, async t => {
    const jobs = vendor(async () => ({ kind: 'submitted', jobId: 'job-1', pollAfterMs: 1 }))
    const { run, events, verify } = await startPriced(t, jobs.provider)
    const { run_id: runId, status } = await run()
    t.equal(status, 'completed')
    const [end] = (await events()).slice(-1) as [{ type: string; data: { cost: { salt: string } } }]
    t.match(end, { type: 'RunCompleted', data: { runId, upstream: worker } })
    const { cost } = end.data
    const { salt, ...known } = cost
    t.same(known, { amountMicros: 120_000, currency: 'USD', source: 'price_list' })
    t.match(salt, /^[0-9a-f]{32}$/)
    t.same((await verify())?.faults, [])
  })

  t.test(`${mode}: a failure that a vendor may bill has a cost, and a refusal has none`, async t => {
    let answer: Failed = { kind: 'failed', code: 'provider_timeout', message: 'It took too long.' }
    const failing = vendor(async () => answer)
    const { run, events, verify } = await startPriced(t, failing.provider)
    const { run_id: runId } = await run()
    const [failed, refund, cost] = await events()
    t.same([failed?.type, refund?.type], ['RunFailed', 'CreditsRefunded'])
    t.match(cost, { type: 'ProviderCostRecorded', data: { runId, ...worker, source: 'unknown' } })
    t.notOk(JSON.stringify(cost).includes('amountMicros'))
    answer = { kind: 'failed', code: 'content_rejected', message: 'No.' }
    await run()
    t.equal((await events()).at(-1)?.type, 'CreditsRefunded')
    answer = overloaded
    await run()
    t.equal((await events()).at(-1)?.type, 'CreditsRefunded')
    t.same((await verify())?.faults, [])
  })
}

t.test('a queued run ends if no provider that serves it is configured any more', async t => {
  const folder = await temporaryFolder(t)
  const environment = { ROLES: 'api,projector' }
  const providers = { first: done.provider }
  const before = await startService(t, { folder, environment, providers, bindingsOf })
  await offer(before.core, family)
  const customer = await openAccount(before)
  await customer.run(order())
  await before.stop()
  const after = await startService(t, { folder, providers: { other: done.provider }, bindingsOf })
  const ended = await until('the run has ended', async () => {
    const { data } = (await customer.at(after.url).send<{ data: { status: string }[] }>('/v1/runs')).body
    return data[0]?.status === 'failed' && data[0]
  })
  t.match(ended, { credits_refunded: 1, error: { code: 'provider_error' } })
})

t.test('queued runs that start at once go to different accounts of their provider', async t => {
  const folder = await temporaryFolder(t)
  const openAi = await startOpenAi(t)
  const vendor = { OPENAI_API_KEY: 'sk-a,sk-b', OPENAI_BASE_URL: openAi.url }
  const before = await startService(t, { folder, environment: { ...vendor, ROLES: 'api,projector' } })
  const customer = await openAccount(before)
  const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }
  for (let run = 0; run < 4; run++) await customer.run(text, { Prefer: 'respond-async' })
  await before.stop()
  const after = await startService(t, { folder, environment: vendor })
  const started = await until('all runs have started', async () => {
    const events = await collect(after.core.log.readStream(`account-${customer.accountId}`, 0))
    const found = events.filter(({ type }) => type === 'RunStarted')
    return found.length === 4 && found
  })
  const accounts = started.map(({ data }) => (data as { upstream?: { account?: string } }).upstream?.account)
  t.equal(new Set(accounts).size, 2)
  for (const account of accounts) t.equal(accounts.filter(each => each === account).length, 2)
})

const refused: Failed = { ...overloaded, fault: { kind: 'unauthorized' } }

t.test(
  'while all providers of a model rest, sync runs are refused and async runs wait for their whole time',
  async t => {
    const [first, second] = [vendor(async () => refused), vendor(async () => refused)]
    const clock = new ManualClock()
    const providers = { first: first.provider, second: second.provider }
    const service = await startService(t, { clock, providers, bindingsOf })
    await offer(service.core, family)
    const customer = await openAccount(service)
    t.match((await customer.run(syncOrder())).body, { status: 'failed', error: { code: 'provider_error' } })
    const before = await customer.balance()
    t.match(await customer.run(syncOrder()), { status: 503, body: { error: { code: 'unavailable' } } })
    t.equal(await customer.balance(), before)
    const { body: waiting } = await customer.run(order())
    t.equal(waiting.status, 'queued')
    clock.advance(60_001)
    const ended = await until('the run has ended', async () => {
      const { body } = await customer.send(`/v1/runs/${waiting.run_id}`)
      return body.status === 'failed' && body
    })
    t.match(ended, { error: { code: 'provider_error' }, credits_refunded: 1 })
    t.equal(await customer.balance(), before)
    t.equal(first.jobs.length, 1)
  },
)

t.test('a queued run ends if no provider that is configured can honour its input any more', async t => {
  const folder = await temporaryFolder(t)
  const providers = { first: done.provider }
  const before = await startService(t, { folder, environment: { ROLES: 'api,projector' }, providers, bindingsOf })
  await offer(before.core, family)
  const customer = await openAccount(before)
  const { body: queued } = await customer.run(order())
  await before.stop()
  const unable = (endpoint: string) => bindingsOf(endpoint).map(each => ({ ...each, parameters: [] }))
  const after = await startService(t, { folder, providers, bindingsOf: unable })
  const ended = await until('the run has ended', async () => {
    const { body } = await customer.at(after.url).send(`/v1/runs/${queued.run_id}`)
    return body.status === 'failed' && body
  })
  t.match(ended, { error: { code: 'provider_error' }, credits_refunded: 1 })
})
