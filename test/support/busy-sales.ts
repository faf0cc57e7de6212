import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { toMicros } from '../../src/domain/money.ts'
import { openPurchase, payPurchase, purchaseId, recordDispute, recordRefund } from './purchase-samples.ts'
import { type Customer, openAccount, type startService } from './service.ts'
import { until } from './until.ts'

const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' } }

/**
 * An account that has bought credits with a bonus, which expire: some were used, a part was refunded, a refund failed,
 * and the payment was disputed after use. The next purchase pays the debt, and a dispute of that one is won. Credits that
 * were granted for a time have expired.
 */
export const sellCredits = async (service: Awaited<ReturnType<typeof startService>>): Promise<Customer> => {
  const customer = await openAccount(service, { credits: 1 })
  const { accounts } = service.core
  const { accountId } = customer
  const execute = async (...commands: AccountCommand[]) => {
    for (const command of commands) {
      const outcome = await accounts.execute({ kind: 'service' }, accountId, command)
      if ('refuse' in outcome) throw new Error(`${command.type} is refused: ${outcome.refuse.code}`)
    }
  }
  await execute(openPurchase({ credits: 50, bonus: 7, validDays: 30 }), payPurchase())
  await customer.run(text)
  await execute(
    recordRefund({ claim: 're_1', amount: '12.34' }),
    { type: 'RequestRefund', purchaseId: purchaseId(), claimId: 'rfd_1', amount: '5.00', reason: 'goodwill' },
    { type: 'AcceptRefund', purchaseId: purchaseId(), claimId: 'rfd_1', refundId: 're_2' },
    { ...recordRefund({ claim: 'rfd_1', amount: '5.00' }), hasFailed: true },
  )
  await customer.run(text)
  await execute(recordDispute({ claim: 'dp_1', amount: '37.66' }), recordDispute({ claim: 'dp_1' }, 'lost'))
  await execute(openPurchase({ purchase: 2, credits: 20, amount: '2000', currency: 'JPY' }))
  await execute(payPurchase({ purchase: 2, amount: '2000', currency: 'JPY' }))
  const disputed = { purchase: 2, claim: 'dp_2', amount: '1999', currency: 'JPY' }
  await execute(recordDispute(disputed), recordDispute(disputed, 'won'))
  await customer.run(text)
  const expiring = {
    kind: 'courtesy',
    reference: 'trial',
    reason: 'a trial',
    expiresAt: new Date().toISOString(),
  } as const
  await execute({ type: 'GrantCredits', amountMicros: toMicros(3), ...expiring })
  await until('the credits have expired', async () =>
    (await accounts.state(accountId)).lots.some(({ expiredMicros }) => expiredMicros !== undefined),
  )
  return customer
}
