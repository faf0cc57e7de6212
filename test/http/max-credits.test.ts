import t from 'tap'
import { call, connect, refusal } from '../mcp/support.ts'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const customer = await openAccount(service)
const text = { model: 'gpt-6-1-terra', input: { prompt: 'a lake' } }

t.test('a run that can cost more than its max_credits is refused without a charge', async t => {
  const { balanceMicros, openRuns } = await service.core.accounts.state(customer.accountId)
  for (const max_credits of [0, 9.999999]) {
    const { status, body } = await customer.run({ ...picture, max_credits })
    t.equal(status, 400)
    t.match(body.error, { code: 'price_above_limit', required_credits: 10, max_credits })
    t.match(body.error.message, /10 credits.*Raise max_credits, or choose a cheaper model/)
  }
  const after = await service.core.accounts.state(customer.accountId)
  t.equal(after.balanceMicros, balanceMicros)
  t.equal(after.openRuns.size, openRuns.size)
})

t.test('a run that costs as much as its max_credits is accepted', async t => {
  for (const max_credits of [10, 12.5, null]) t.equal((await customer.run({ ...picture, max_credits })).status, 200)
})

t.test('the price of a text is the most that it can cost', async t => {
  const { body } = await customer.post<{ credits: number }>('/v1/run?dry_run=true', text)
  t.equal((await customer.run({ ...text, max_credits: body.credits - 0.000001 })).status, 400)
  t.equal((await customer.run({ ...text, max_credits: body.credits })).status, 200)
})

t.test('dry runs and test keys are held to max_credits too', async t => {
  const tests = await openKey(service, customer, { livemode: false })
  for (const caller of [customer, tests])
    for (const path of ['/v1/run?dry_run=true', '/v1/run']) {
      const { body } = await caller.post<{ error: { code: string } }>(path, { ...picture, max_credits: 9 })
      t.equal(body.error.code, 'price_above_limit')
    }
  t.equal((await tests.run({ ...picture, max_credits: 10 })).status, 200)
})

t.test('max_credits is a number of credits with at most six decimals', async t => {
  for (const max_credits of [-1, 10.0000001, 1e10, '10']) {
    const { status, body } = await customer.run({ ...picture, max_credits })
    t.equal(status, 400, String(max_credits))
    t.match(body.error, { code: 'invalid_request', errors: [{ path: '/max_credits' }] })
  }
})

t.test('max_credits is a part of the request that an idempotency key names', async t => {
  const headers = { 'Idempotency-Key': 'k' }
  const first = await customer.run({ ...picture, max_credits: 10 }, headers)
  t.equal((await customer.run({ ...picture, max_credits: 10 }, headers)).body.run_id, first.body.run_id)
  for (const max_credits of [11, undefined, 9])
    t.equal((await customer.run({ ...picture, max_credits }, headers)).status, 422)
})

t.test('agents limit their runs too', async t => {
  const client = await connect(t, customer, '2025-11-25')
  for (const tool of ['run_model', 'quote_run'])
    t.match(await refusal(client, tool, { ...picture, max_credits: 9 }), {
      code: 'price_above_limit',
      required_credits: 10,
    })
  t.match((await call(client, 'run_model', { ...picture, max_credits: 10 })).body, { status: 'completed' })
})
