import type { AccountId, PurchaseId } from '../../../schemas/primitives.ts'
import type { AccountCommand } from '../../domain/account/commands.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Logger } from '../../ports/logger.ts'
import { type Dispute, type PaymentReport, type Payments, type Refund, SignatureInvalid } from '../../ports/payments.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { isAccountId, isPurchaseId } from '../ids.ts'
import { type Purchases, paymentOf, SERVICE } from './purchases.ts'

interface Dependencies {
  accounts: AccountMailboxes
  purchases: Purchases
  payments: Payments | undefined
  logger: Logger
}

interface Report {
  signature: string | undefined
  /** Called only if the service takes payments. */
  readBody(): Promise<Uint8Array>
}

/**
 * Records what the payment service reports. It reports zero to many times, in any order, so each report leads to a
 * command that an account decides once. A report is answered after its append; the service repeats it if that fails.
 */
export class PaymentReports {
  readonly #dependencies: Dependencies

  /** The payment service has no API key. It signs its reports. */
  readonly permissions = { receive: 'public' } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Rejects with Unavailable if the report cannot be recorded now. */
  async receive(_caller: Caller, { signature, readBody }: Report): Promise<Answer<undefined>> {
    const { payments } = this.#dependencies
    if (!payments) return refuse('callback_not_expected')
    try {
      const report = await payments.read(Buffer.from(await readBody()), signature)
      if (report) await this.#record(payments, report)
      return answer(undefined)
    } catch (error) {
      if (error instanceof SignatureInvalid) return refuse('report_not_signed', { fault: error.fault })
      throw error
    }
  }

  #record(payments: Payments, report: PaymentReport): Promise<void> {
    switch (report.kind) {
      case 'checkout_paid':
        return this.#execute(report, purchaseId => ({
          type: 'PayPurchase',
          payment: paymentOf(purchaseId, report.facts),
        }))
      case 'checkout_failed':
        return this.#execute(report, purchaseId => ({ type: 'ClosePurchase', purchaseId, reason: 'failed' }))
      case 'checkout_expired':
        return this.#execute(report, purchaseId => ({ type: 'ClosePurchase', purchaseId, reason: 'expired' }))
      case 'refund_changed':
        return this.#recordRefund(payments, report.refund)
      case 'dispute_changed':
        return this.#recordDispute(payments, report.dispute)
      // Another report follows. Nothing is charged while its owner is away so far.
      case 'checkout_waiting':
      case 'charge_paid':
      case 'charge_failed':
        return Promise.resolve()
    }
  }

  async #recordRefund(payments: Payments, { refundId, refundKey, paymentId, money, status }: Refund): Promise<void> {
    const place = await payments.paymentOf(paymentId)
    if (!place) return
    const claimId = refundKey ?? refundId
    const hasFailed = status === 'failed' || status === 'cancelled'
    await this.#execute(place, purchaseId => ({ type: 'RecordRefund', purchaseId, claimId, ...money, hasFailed }))
    if (refundKey === undefined || hasFailed) return
    await this.#execute(place, purchaseId => ({ type: 'AcceptRefund', purchaseId, claimId, refundId }))
  }

  /** Reports come in any order, so the present state of the dispute decides. */
  async #recordDispute(payments: Payments, reported: Dispute): Promise<void> {
    const place = await payments.paymentOf(reported.paymentId)
    if (!place) return
    const { disputeId, money, status } = (await payments.findDispute(reported.disputeId)) ?? reported
    await this.#execute(place, purchaseId => ({
      ...{ type: 'RecordDispute', purchaseId, claimId: disputeId, ...money, status },
    }))
  }

  /** A claim may be reported before its payment. */
  async #execute(
    place: { purchaseId: string; accountId: string },
    commandOf: (purchaseId: PurchaseId) => AccountCommand,
  ): Promise<void> {
    const { accounts, purchases, logger } = this.#dependencies
    const { accountId, purchaseId } = place
    if (!isAccountId(accountId) || !isPurchaseId(purchaseId)) return
    const execute = () => accounts.execute(SERVICE, accountId as AccountId, commandOf(purchaseId))
    let outcome = await execute()
    if ('refuse' in outcome && outcome.refuse.code === 'purchase_not_paid') {
      await purchases.check(SERVICE, accountId, purchaseId)
      outcome = await execute()
    }
    if ('refuse' in outcome)
      logger.error({ ...place, refused: outcome.refuse.code }, 'a report of the payment service was not recorded')
  }
}
