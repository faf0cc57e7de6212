import t from 'tap'
import type { ErrorCode } from '../../schemas/api/error.ts'
import type { Run, RunList } from '../../schemas/api/run.ts'
import { MAX_LIVE_UPLOADS, MAX_LONG_BODY_BYTES } from '../../schemas/primitives.ts'
import { toMicros } from '../../src/domain/money.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { picture, type Reply } from '../support/client.ts'
import { recorded } from '../support/recorded.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

// The OpenAPI document shows these examples, so each must equal what the service answers.

// Where only this machine can reach the service, insufficient_credits shows a command instead.
const environment = { HOST: '0.0.0.0' }
const service = await startService(t, { providers: { sandbox: instantProvider }, environment })
const { reads, accounts } = service.core
const customer = await openAccount(service)
const poor = await openAccount(service, { credits: 2.5 })
const reader = await openAccount(service, { scope: 'read' })
const spender = await openKey(service, customer, { budget: { amountMicros: toMicros(50), period: 'month' } })
const text = { model: 'gpt-6-1-terra', input: { prompt: 'a lake' } }

// Unlike the provider above, the sandbox fails on request.
const failing = await startService(t)
const tester = await openAccount(failing, { tester: true })

const chatThat = (outcome: string, delay_ms = 0) => tester.post('/v1/chat/completions', { ...chat, outcome, delay_ms })

const chat = { model: 'sandbox', messages: [{ role: 'user', content: 'hello' }] }

/** Sends a request while a part of the service fails. */
const during = async <Part extends object>(part: Part, misbehavior: Partial<Part>, send: () => Promise<Reply>) => {
  const methods = Object.fromEntries(Object.keys(misbehavior).map(name => [name, part[name as keyof Part]]))
  Object.assign(part, misbehavior)
  return send().finally(() => Object.assign(part, methods))
}

const run = () => customer.send('/v1/runs/run_01m7z4hp40enbs019v3tcadvdx')
const presign = () => customer.post('/v1/uploads/presigned', { filename: 'lake.png', mime_type: 'image/png' })

const causes: Record<ErrorCode, () => Promise<Reply>> = {
  invalid_request: () => customer.run({ input: picture.input }),
  invalid_input: () => customer.run({ ...picture, input: { ...picture.input, resolution: '8K' } }),
  price_above_limit: () => customer.run({ ...picture, max_credits: 7.5 }),
  budget_not_found: () => customer.run({ ...picture, budget: 'customer 18' }),
  invalid_multipart: () =>
    customer.send('/v1/uploads', { method: 'POST', headers: { 'Content-Type': 'multipart/form-data' }, body: 'x' }),
  unsupported_media_type: () =>
    customer.send('/v1/run', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' }),
  forbidden: () => reader.run(picture),
  account_suspended: async () => {
    const { accounts } = service.core.services
    const suspended = await openAccount(service)
    await accounts.suspend({ kind: 'operator', name: 'ada' }, suspended.accountId, 'unpaid invoice')
    return suspended.send('/v1/balance')
  },
  invalid_api_key: () => service.client('tg_sk_live_unknown').send('/v1/balance'),
  insufficient_credits: () => poor.run({ ...picture, input: { ...picture.input, resolution: '2K' } }),
  budget_exceeded: async () => {
    await spender.run({ ...picture, input: { ...picture.input, num_images: 3, resolution: '2K' } })
    return spender.run(picture)
  },
  not_found: () => customer.send('/v2/models'),
  model_not_found: () => customer.run({ ...picture, model: 'nano-bananas' }),
  run_not_found: () => customer.send('/v1/runs/run_01m7z4hp40enbs019v3tcadvdx'),
  upload_not_found: () => customer.send('/v1/uploads/upl_01m7zse8a8fewa24xyrw6y4p0d'),
  method_not_allowed: () => customer.send('/v1/run', { method: 'PATCH' }),
  run_ended: async () => {
    const { body } = await customer.run(text)
    return customer.post(`/v1/runs/${body.run_id}/cancel`, {})
  },
  webhook_pending: async () => {
    const { body } = await customer.run({ ...text, webhook_url: 'https://receiver.example' })
    const execute = async () => ({ refuse: { code: 'webhook_pending' } }) as const
    return during(accounts, { execute }, () => customer.post(`/v1/runs/${body.run_id}/deliveries`, {}))
  },
  not_sealed: async () => {
    const { body } = await customer.run(text)
    return customer.send(`/v1/ledger/proof?run=${body.run_id}`)
  },
  payload_too_large: () => customer.run({ ...picture, metadata: { note: 'x'.repeat(MAX_LONG_BODY_BYTES) } }),
  idempotency_mismatch: async () => {
    const headers = { 'Idempotency-Key': 'the-same-key' }
    await customer.run(text, headers)
    return customer.run({ ...text, metadata: { order: 17 } }, headers)
  },
  rate_limited: () => {
    const execute = async () => ({ refuse: { code: 'too_many_uploads', limit: MAX_LIVE_UPLOADS } }) as const
    return during(accounts, { execute }, presign)
  },
  content_rejected: () => chatThat('content_rejected'),
  provider_error: () => chatThat('provider_error'),
  provider_timeout: () => chatThat('provider_timeout'),
  interrupted: () => chatThat('interrupted'),
  cancelled: async () => {
    const answer = chatThat('success', 60_000)
    const started = async () => (await tester.send<RunList>('/v1/runs?status=processing')).body.data[0]
    const { run_id } = (await until('the run has started', started)) as Run
    await tester.post(`/v1/runs/${run_id}/cancel`, {})
    return answer
  },
  internal_error: () => during(reads, { get: () => Promise.reject(new Error('broken')) }, run),
  unavailable: () => during(reads, { get: () => Promise.reject(new Unavailable('away')) }, run),
}

for (const [code, cause] of Object.entries(causes))
  t.test(`the example of ${code} is the answer of the service`, async t => {
    recorded(t, `errors.${code}`, (await cause()).body)
  })
