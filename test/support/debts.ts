import type { AccountId } from '../../schemas/primitives.ts'
import type { AccountCommand } from '../../src/domain/account/commands.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { AccountMailboxes } from '../../src/services/accounts/account-mailboxes.ts'
import { openPurchase, payPurchase, recordDispute } from './purchase-samples.ts'

/** Buys credits and uses them up. The account keeps all others that it has. */
export const useUpPurchase = async (accounts: AccountMailboxes, accountId: AccountId, credits = 50) => {
  const used = { amountMicros: toMicros(credits), kind: 'purchase', reference: 'used', reason: 'used' } as const
  for (const command of [openPurchase({ credits }), payPurchase(), { type: 'WithdrawCredits', ...used } as const])
    await execute(accounts, accountId, command)
}

/** The bank takes the payment back for good, so the account owes what it has used. */
export const loseDispute = (accounts: AccountMailboxes, accountId: AccountId) =>
  execute(accounts, accountId, recordDispute({}, 'lost'))

const execute = async (accounts: AccountMailboxes, accountId: AccountId, command: AccountCommand) => {
  const outcome = await accounts.execute({ kind: 'service' }, accountId, command)
  if ('refuse' in outcome) throw new Error(`refused: ${outcome.refuse.code}`)
}
