import type { PurchaseRow } from '../../../schemas/views.ts'
import { mailAddress } from '../../domain/account/notices.ts'
import { declareWithdrawal } from '../../domain/account/withdrawals.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Money } from '../../ports/payments.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'
import { isPurchaseId, newClaimId } from '../ids.ts'
import type { Reads } from '../views/reads.ts'
import { readPurchase } from './purchases.ts'

interface Dependencies {
  accounts: AccountMailboxes
  reads: Reads
  clock: Clock
  random: Random
}

/** What a withdrawal would do. */
export interface WithdrawalPreview {
  purchase: PurchaseRow
  /** The refund; undefined if the customer has withdrawn already. */
  refund: Money | undefined
  /** The credits that the account would lose, with those of the bonus. */
  takenMicros: number
  /** The address for the receipt, if there is one. */
  mailTo: string | undefined
}

/** Withdraws customers from the contracts about their purchases. */
export class Withdrawals {
  readonly #dependencies: Dependencies

  readonly permissions = { declare: 'settings', preview: 'settings' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Withdraws once. The refund is then requested from the payment service. */
  async declare(caller: AccountCaller, purchaseId: string): Promise<Answer<PurchaseRow>> {
    const { accounts, random, reads } = this.#dependencies
    if (!isPurchaseId(purchaseId)) return refuse('purchase_not_found')
    const { accountId } = caller
    const declaration = { purchaseId, claimId: newClaimId(random), keyId: keyIdOf(caller) }
    const outcome = await accounts.execute(caller, accountId, { type: 'DeclareWithdrawal', ...declaration })
    if ('refuse' in outcome) return outcome
    const row = await readPurchase(reads, accountId, purchaseId)
    return row ? answer(row) : refuse('purchase_not_found')
  }

  /** What a withdrawal would do now. Changes nothing. */
  async preview({ accountId }: AccountCaller, purchaseId: string): Promise<Answer<WithdrawalPreview>> {
    const { accounts, random, reads, clock } = this.#dependencies
    const state = await accounts.currentState(accountId)
    const purchase = await readPurchase(reads, accountId, purchaseId)
    if (!purchase) return refuse('purchase_not_found')
    const declaration = { purchaseId: purchase.purchaseId, claimId: newClaimId(random) }
    const decided = declareWithdrawal(declaration, state, clock.nowMs())
    if ('refuse' in decided) return decided
    const declared = decided.accept.find(event => event.type === 'WithdrawalDeclared')?.data
    const { withdrawnMicros = 0, bonusWithdrawnMicros = 0 } =
      decided.accept.find(event => event.type === 'RefundRequested')?.data ?? {}
    return answer({
      purchase,
      refund: declared && { amount: declared.amount, currency: declared.currency },
      takenMicros: withdrawnMicros + bonusWithdrawnMicros,
      mailTo: mailAddress(state),
    })
  }
}
