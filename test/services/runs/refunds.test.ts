import t from 'tap'
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
