import t from 'tap'
import { toMicros } from '../../../src/domain/money.ts'
import { picture } from '../../support/client.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'

const operator = { kind: 'operator', name: 'test' } as const

t.test('a run can be refunded as soon as its client has the answer', async t => {
  const service = await startService(t, { providers: { sandbox: instantProvider } })
  const customer = await openAccount(service)
  const { accountId } = customer
  // The views are a few milliseconds behind.
  for (let run = 1; run <= 10; run++) {
    const { run_id: runId } = (await customer.run(picture)).body
    const refunded = await service.core.services.refunds.refund(operator, runId, { reason: 'it was black' })
    t.same(refunded, { value: { accountId, runId, amountMicros: 10_000_000, balanceMicros: 100_000_000 } })
  }
})

t.test('the refund of a run is its whole price, with quantities and surcharges', async t => {
  const service = await startService(t, { providers: { sandbox: instantProvider } })
  const customer = await openAccount(service)
  const input = { ...picture.input, num_images: 2, enable_web_search: true }
  const { run_id: runId, credits_charged: charged } = (await customer.run({ ...picture, input })).body
  t.ok(charged > 20, `it cost ${charged} credits`)
  const refunded = await service.core.services.refunds.refund(operator, runId, { reason: 'it was black' })
  t.match(refunded, { value: { amountMicros: toMicros(charged), balanceMicros: 100_000_000 } })
})
