import { generateKeyPairSync } from 'node:crypto'
import type { Test } from 'tap'
import type { ModelList } from '../../schemas/api/model.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { toMicros } from '../../src/domain/money.ts'
import { BEFORE_FIRST } from '../../src/ports/event-log.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { sellCredits } from './busy-sales.ts'
import { collect } from './collect.ts'
import { doneFor } from './done.ts'
import { filePart, upload } from './multipart.ts'
import { priceList as forSale } from './pack-samples.ts'
import { startReceiver, status } from './receiver.ts'
import { picture } from './sample-files.ts'
import { openAccount, openKey, startService } from './service.ts'
import { until } from './until.ts'
import { unwrap } from './unwrap.ts'

const operator = { kind: 'operator', name: 'test' } as const

/** Completes runs at once, but for those whose prompt asks otherwise. */
const provider: Provider = {
  submit: async job =>
    job.input['prompt'] === 'fail'
      ? { kind: 'failed', code: 'content_rejected', message: 'The prompt was rejected.' }
      : doneFor(job),
}

/** By their environment: it takes seconds to make one. */
const made = new Map<string, Promise<RawEvent[]>>()

/** The key with which the logs are sealed whose environment has it. */
export const busySealKey = generateKeyPairSync('ed25519')
export const sealedWithKey = {
  SEAL_EVENTS: '40',
  SEAL_KEY: busySealKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
}

/**
 * The events of a service after a bit of everything: runs of every model that takes only text, failed and repeated ones,
 * refunds, grants, withdrawals, prices of credits, purchases, disputes, debt, expiry, keys, test runs, uploads and
 * webhooks, in several accounts. The test files of a process share them.
 */
export const busyLog = async (t: Test, environment: Record<string, string> = {}): Promise<RawEvent[]> => {
  const name = JSON.stringify(environment)
  const events = made.get(name) ?? makeBusyLog(t, environment)
  made.set(name, events)
  return structuredClone(await events)
}

const makeBusyLog = async (t: Test, environment: Record<string, string>): Promise<RawEvent[]> => {
  const service = await startService(t, {
    environment: { ALLOW_PRIVATE_WEBHOOKS: 'true', ...environment },
    providers: { sandbox: provider },
  })
  const { accounts, keys, notices, priceList, refunds } = service.core.services
  unwrap(await priceList.publish(operator, forSale))
  const receiver = await startReceiver(t, (response, { path }) =>
    status(path === '/gone' ? 410 : 204)(response, {} as never),
  )
  const [first, second, third] = [
    await openAccount(service, { credits: 100_000 }),
    await openAccount(service),
    await openAccount(service),
  ]
  const { body: models } = await first.send<ModelList>('/v1/models')
  const inputs = models.data.flatMap(({ id, endpoints }) =>
    endpoints.flatMap(({ parameters_schema: { examples = [] } }) =>
      (examples as Record<string, unknown>[]).filter(isText).map(input => ({ model: id, input })),
    ),
  )
  for (const each of inputs) await first.run(each)

  const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }
  const { body: refunded } = await second.run(text, { 'Idempotency-Key': 'order-1' })
  await second.run(text, { 'Idempotency-Key': 'order-1' })
  unwrap(await refunds.refund(operator, refunded.run_id, { reason: 'a gift' }))
  await second.run({ ...text, input: { prompt: 'fail' } })
  for (const path of ['', 'gone']) await second.run({ ...text, webhook_url: receiver.url + path })
  await receiver.until(2)

  const grant = { amountMicros: 5_000_000, kind: 'purchase', reference: 'invoice-1', reason: 'paid' } as const
  const payment = { amount: '5.00', currency: 'EUR', invoice: 'invoice-1' }
  unwrap(await accounts.grant(operator, third.accountId, { ...grant, payment }))
  unwrap(
    await accounts.withdraw(operator, third.accountId, { ...grant, amountMicros: 1_000_000, reference: 'mistake-1' }),
  )
  const other = unwrap(await keys.create(operator, third.accountId, { name: 'other' }))
  unwrap(await keys.revoke(operator, third.accountId, other.keyId))
  const limits = { budget: { amountMicros: 25_000_000, period: 'week' }, models: ['gpt-6-1-terra'] } as const
  const expiresAt = '2100-01-01T00:00:00.000Z'
  const limited = await openKey(service, third, { ...limits, models: [...limits.models], expiresAt })
  await limited.run({ ...text, input: { prompt: 'fail' } })
  const { body: kept } = await limited.run(text)
  unwrap(await refunds.refund(operator, kept.run_id, { amountMicros: 1_000, reason: 'a gift' }))
  await limited.run(text)
  const tester = await openKey(service, third, { livemode: false })
  await tester.run(text, { 'Idempotency-Key': 'order-1' })
  await tester.run({ ...text, input: { prompt: 'fail' }, label: 'ci' })
  await upload(tester, filePart(await picture('png')))
  const { body: stored } = await upload(third, filePart(await picture('png')))
  await third.send(`/v1/uploads/${stored.id}`, { method: 'DELETE' })
  await third.run(text)

  const budget = 'customer 17'
  await second.post('/v1/budgets', { name: budget, credits: 30, period: 'month' })
  await second.run({ ...text, input: { prompt: 'fail' }, budget })
  const { body: spent } = await second.run({ ...text, budget })
  unwrap(await refunds.refund(operator, spent.run_id, { amountMicros: 1_000, reason: 'a gift' }))
  await second.run({ ...text, budget })
  await second.post('/v1/budgets', { name: budget, credits: 40 })
  await second.run({ ...text, budget })
  await second.send(`/v1/budgets/${encodeURIComponent(budget)}`, { method: 'DELETE' })

  await sellCredits(service)

  const { balanceMicros } = await service.core.accounts.state(third.accountId)
  const settings = { email: true, url: `${receiver.url}gone`, balanceUnderMicros: balanceMicros }
  unwrap(await notices.set(operator, third.accountId, settings))
  const priceMicros = toMicros(kept.credits_charged)
  const exhausted = await openKey(service, third, { budget: { amountMicros: priceMicros, period: 'month' } })
  await exhausted.run(text)

  const { log } = service.core
  const events = () => collect(log.readAll(BEFORE_FIRST))
  await until('the use of keys is recorded', async () => (await events()).some(({ type }) => type === 'ApiKeyUsed'))
  await until('the webhooks are recorded', async () => (await events()).some(({ type }) => type === 'WebhookAbandoned'))
  await until('the notices are recorded', async () => {
    const types = (await events()).map(({ type }) => type)
    return ['NoticeDelivered', 'NoticeAbandoned'].every(type => types.filter(each => each === type).length === 2)
  })
  return events()
}

const isText = (input: Record<string, unknown>): boolean =>
  !Object.values(input).some(value => JSON.stringify(value).includes('http'))
