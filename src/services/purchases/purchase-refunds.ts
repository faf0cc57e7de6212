import { fold } from '../../../projections/define.ts'
import { purchases as purchaseView } from '../../../projections/purchases.ts'
import type { PurchaseRow } from '../../../schemas/views.ts'
import { refuse } from '../../domain/refusal.ts'
import type { EventLog } from '../../ports/event-log.ts'
import type { Random } from '../../ports/random.ts'
import { BY_KEY } from '../../ports/view-store.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { isPurchaseId, newClaimId } from '../ids.ts'
import { findById } from '../views/find-by-id.ts'
import type { Reads } from '../views/reads.ts'

interface Dependencies {
  accounts: AccountMailboxes
  reads: Reads
  random: Random
  log: Pick<EventLog, 'head'>
}

export interface RequestedRefund {
  /** Everything that is left of the purchase, if missing. */
  amount?: string | undefined
  reason: string
}

export interface WithdrawnForRefund {
  purchase: PurchaseRow
  claimId: string
  /** The bought credits that were withdrawn, and those of the bonus. */
  withdrawnMicros: number
  bonusWithdrawnMicros: number
}

/** Lists purchases and refunds them, on an operator's decision. */
export class PurchaseRefunds {
  readonly #dependencies: Dependencies

  readonly permissions = { refund: 'operate', list: 'operate', find: 'operate' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Withdraws what is to be refunded of a purchase. The service asks the payment service for the money right after, and
   * gives the credits back if that fails.
   */
  async refund(
    caller: Caller,
    purchaseId: string,
    { amount, reason }: RequestedRefund,
  ): Promise<Answer<WithdrawnForRefund>> {
    const { accounts, random } = this.#dependencies
    const found = await this.find(caller, purchaseId)
    if ('refuse' in found) return found
    const row = found.value
    const claimId = newClaimId(random)
    const command = { type: 'RequestRefund', purchaseId: row.purchaseId, claimId, amount, reason } as const
    const outcome = await accounts.execute(caller, row.accountId, command)
    if ('refuse' in outcome) return outcome
    const purchase = fold(purchaseView, outcome.accept, row) as PurchaseRow
    const requested = outcome.accept.find(event => event.type === 'RefundRequested')
    const { withdrawnMicros = 0, bonusWithdrawnMicros = 0 } = requested?.data ?? {}
    return answer({ purchase, claimId, withdrawnMicros, bonusWithdrawnMicros })
  }

  /** All purchases, or those of an account: by account, and there the oldest first. */
  async list(_caller: Caller, accountId?: string): Promise<Answer<PurchaseRow[]>> {
    const rows: PurchaseRow[] = []
    const prefix = accountId === undefined ? '' : `${accountId}/`
    for await (const { row } of this.#dependencies.reads.scan('purchases', BY_KEY, { prefix })) rows.push(row)
    return answer(rows)
  }

  async find(_caller: Caller, purchaseId: string): Promise<Answer<PurchaseRow>> {
    const { reads, log } = this.#dependencies
    if (!isPurchaseId(purchaseId)) return refuse('purchase_not_found')
    // While its account is unknown, only the end of the log is sure to have its latest events.
    await reads.passed(await log.head())
    const row = await findById(reads, 'purchases', purchaseId)
    return row ? answer(row) : refuse('purchase_not_found')
  }
}
