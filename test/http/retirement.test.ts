import t from 'tap'
import type { Run, RunList } from '../../schemas/api/run.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { call, connect } from '../mcp/support.ts'
import { startReceiver } from '../support/receiver.ts'
import { retiring, retiringBindings } from '../support/retiring.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { offer } from '../support/vendor-families.ts'

const DAY = '2999-01-06'
const service = await startService(t, {
  environment: { ALLOW_PRIVATE_WEBHOOKS: 'true' },
  providers: { vendor: instantProvider },
  bindingsOf: retiringBindings('vendor', DAY),
})
await offer(service.core, ...retiring)
const customer = await openAccount(service)
const retires_at = `${DAY}T00:00:00.000Z`

t.test('what retires has the headers that say so', async t => {
  const headersOf = async (name: string) => {
    const { status, headers } = await customer.send(`/v1/models/${name}`)
    return [status, headers.get('Deprecation'), headers.get('Sunset')]
  }
  const sunset = 'Sun, 06 Jan 2999 00:00:00 GMT'
  const deprecation = `@${Date.parse('2026-11-24') / 1000}`
  for (const name of ['lumen', 'lumen-t2i', 'torch-t2i'])
    t.same(await headersOf(name), [200, deprecation, sunset], name)
  for (const name of ['beacon', 'torch', 'torch-t2v']) t.same(await headersOf(name), [200, null, null], name)

  const first = await customer.send('/v1/models/lumen')
  const again = await customer.send('/v1/models/lumen', {
    headers: { 'If-None-Match': first.headers.get('ETag') as string },
  })
  t.same([again.status, again.headers.get('Sunset')], [304, sunset])
  const list = await customer.send('/v1/models')
  t.equal(list.headers.get('Sunset'), null)
})

t.test('a run of what retires is answered with a warning', async t => {
  const receiver = await startReceiver(t)
  const ask = (model: string) => ({ model, input: { prompt: 'hello' } })
  const run = await customer.run({ ...ask('lumen'), webhook_url: receiver.url })
  const warning = {
    ...{ code: 'model_retires', message: 'lumen-t2i retires at 2999-01-06 00:00 UTC; use beacon instead.' },
    ...{ retires_at, replaced_by: 'beacon' },
  }
  t.same(run.body.warnings, [warning])
  t.equal(run.headers.get('Sunset'), null)
  t.same((await customer.send(`/v1/runs/${run.body.run_id}`)).body, run.body)
  const { body: torch } = await customer.run(ask('torch'))
  const message = 'torch-t2i retires at 2999-01-06 00:00 UTC.'
  t.same(torch.warnings, [{ code: 'model_retires', message, retires_at }])
  t.notOk('warnings' in (await customer.run(ask('beacon'))).body)

  await receiver.until(1)
  for (const { event } of receiver.deliveries) t.notOk('warnings' in event.data)
  for (const each of (await customer.send<RunList>('/v1/runs')).body.data) t.notOk('warnings' in each)
  const client = await connect(t, customer, '2025-11-25')
  t.same((await call<Run>(client, 'get_run', { run_id: run.body.run_id })).body.warnings, [warning])
})

t.test('a run that is charged is answered without a warning while the log is unavailable', async t => {
  t.intercept(service.core.offers, 'replacementOf', {
    value: async () => {
      throw new Unavailable('the log does not answer')
    },
  })
  const run = await customer.run({ model: 'lumen', input: { prompt: 'hello' } })
  t.equal(run.status, 200)
  t.notOk('warnings' in run.body)
})
