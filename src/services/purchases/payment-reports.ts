import type { AccountId, PurchaseId } from '../../../schemas/primitives.ts'
import type { AccountCommand } from '../../domain/account/commands.ts'
import { type Refusal, refuse } from '../../domain/refusal.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Logger } from '../../ports/logger.ts'
import {
  type Dispute,
  type PaymentReport,
  type Payments,
  type PurchaseOf,
  type Refund,
  ReportUnreadable,
  SignatureInvalid,
} from '../../ports/payments.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { isAccountId, isPurchaseId } from '../ids.ts'
import type { Purchases } from './purchases.ts'
import { recordedPayment, SERVICE } from './recorded-payment.ts'

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
    const { payments, logger } = this.#dependencies
    if (!payments) return refuse('callback_not_expected')
    try {
      const report = await payments.read(Buffer.from(await readBody()), signature)
      if (report) await this.#record(payments, report)
      return answer(undefined)
    } catch (error) {
      if (error instanceof SignatureInvalid) return refuse('report_not_signed', { fault: error.fault })
      if (!(error instanceof ReportUnreadable)) throw error
      logger.error({ err: error }, 'a report of the payment service was not recorded')
      return refuse('report_unreadable')
    }
  }

  #record(payments: Payments, report: PaymentReport): Promise<void> {
    switch (report.kind) {
      case 'checkout_paid':
        return this.#execute(report, purchaseId => ({
          type: 'PayPurchase',
          payment: recordedPayment(purchaseId, report.facts),
        }))
      case 'checkout_failed':
        return this.#execute(report, purchaseId => ({ type: 'ClosePurchase', purchaseId, reason: 'failed' }))
      case 'checkout_expired':
        return this.#execute(report, purchaseId => ({ type: 'ClosePurchase', purchaseId, reason: 'expired' }))
      case 'refund_changed':
        return this.#recordRefund(payments, report.refund)
      case 'dispute_changed':
        return this.#recordDispute(payments, report.dispute)
      case 'charge_changed':
        return this.#recordCharge(report)
      // Another report follows.
      case 'checkout_waiting':
        return Promise.resolve()
    }
  }

  async #recordCharge({ accountId, purchaseId }: PurchaseOf): Promise<void> {
    if (!isAccountId(accountId) || !isPurchaseId(purchaseId)) return
    await this.#dependencies.purchases.check(SERVICE, accountId, purchaseId)
  }

  async #recordRefund(payments: Payments, refund: Refund): Promise<void> {
    const { refundId, refundKey, paymentId, money } = refund
    const place = await payments.paymentOf(paymentId)
    if (!place) return
    await this.#recordReversals(payments, place, paymentId)
    const claimId = claimIdOf(refund)
    const hasFailed = isFailed(refund)
    await this.#execute(place, purchaseId => ({ type: 'RecordRefund', purchaseId, claimId, ...money, hasFailed }))
    if (refundKey === undefined || hasFailed) return
    await this.#execute(place, purchaseId => ({ type: 'AcceptRefund', purchaseId, claimId, refundId }))
  }

  /** Reports come in any order, so the present state of the dispute decides. */
  async #recordDispute(payments: Payments, reported: Dispute): Promise<void> {
    const place = await payments.paymentOf(reported.paymentId)
    if (!place) return
    await this.#recordReversals(payments, place, reported.paymentId)
    const { disputeId, money, status } = (await payments.findDispute(reported.disputeId)) ?? reported
    await this.#execute(place, purchaseId => ({
      ...{ type: 'RecordDispute', purchaseId, claimId: disputeId, ...money, status },
    }))
  }

  /**
   * Records failed refunds and won disputes whose reports are late. A claim takes no more than the others leave, so
   * ended claims must be recorded before a new one.
   */
  async #recordReversals(payments: Payments, place: PurchaseOf, paymentId: string): Promise<void> {
    const { accountId, purchaseId } = place
    if (!isAccountId(accountId) || !isPurchaseId(purchaseId)) return
    const { purchases } = await this.#dependencies.accounts.currentState(accountId)
    const standing = purchases.get(purchaseId)?.claims.filter(({ status }) => status !== 'reversed') ?? []
    const [refunds, disputes] = [standing.filter(isRefund), standing.filter(claim => !isRefund(claim))]
    const made = refunds.length > 0 ? await payments.refundsOf(paymentId) : []
    for (const refund of made.filter(isFailed)) {
      const claimId = claimIdOf(refund)
      if (!refunds.some(claim => claim.claimId === claimId)) continue
      await this.#execute(place, () => ({
        type: 'RecordRefund',
        purchaseId,
        claimId,
        ...refund.money,
        hasFailed: true,
      }))
    }
    for (const { claimId } of disputes) {
      const dispute = await payments.findDispute(claimId)
      if (dispute?.status !== 'won') continue
      const { money, status } = dispute
      await this.#execute(place, () => ({ type: 'RecordDispute', purchaseId, claimId, ...money, status }))
    }
  }

  /**
   * Records the state of requested refunds, if the payment is too small for them and a claim. The payment service will
   * refuse those that it has not made: they are reversed first, so that the claim takes their credits.
   */
  async #settleRefunds(payments: Payments, place: Place, refunds: Refused<'refunds_uncovered'>['refunds']) {
    const { accountId, purchaseId } = place
    const { purchases } = await this.#dependencies.accounts.currentState(accountId)
    const { paymentId = '' } = purchases.get(purchaseId)?.payment ?? {}
    const made = await payments.refundsOf(paymentId)
    for (const { claimId, amount, currency } of refunds) {
      const refund = made.find(each => claimIdOf(each) === claimId && !isFailed(each))
      await this.#execute(place, () =>
        refund
          ? { type: 'AcceptRefund', purchaseId, claimId, refundId: refund.refundId }
          : { type: 'RecordRefund', purchaseId, claimId, amount, currency, hasFailed: true },
      )
    }
  }

  /** A claim may be reported before its payment, or while a refund is under way. */
  async #execute(place: PurchaseOf, commandOf: (purchaseId: PurchaseId) => AccountCommand): Promise<void> {
    const { accounts, purchases, payments, logger } = this.#dependencies
    const { accountId, purchaseId } = place
    if (!isAccountId(accountId) || !isPurchaseId(purchaseId)) return
    const execute = () => accounts.execute(SERVICE, accountId, commandOf(purchaseId))
    let outcome = await execute()
    if ('refuse' in outcome && outcome.refuse.code === 'purchase_not_paid') {
      await purchases.check(SERVICE, accountId, purchaseId)
      outcome = await execute()
    }
    if (payments && 'refuse' in outcome && outcome.refuse.code === 'refunds_uncovered') {
      await this.#settleRefunds(payments, { accountId, purchaseId }, outcome.refuse.refunds)
      outcome = await execute()
    }
    // Another refund was requested meanwhile. The report comes again.
    if ('refuse' in outcome && outcome.refuse.code === 'refunds_uncovered')
      throw new Unavailable('a refund is under way')
    if (!('refuse' in outcome)) return
    // The report itself holds the customer's address.
    const facts = { accountId, purchaseId, refused: outcome.refuse.code }
    logger.error(facts, 'a report of the payment service was not recorded')
  }
}

interface Place {
  accountId: AccountId
  purchaseId: PurchaseId
}

type Refused<Code extends Refusal['code']> = Extract<Refusal, { code: Code }>

const isRefund = ({ kind }: { kind: 'refund' | 'dispute' }): boolean => kind === 'refund'

const isFailed = ({ status }: Refund): boolean => status === 'failed' || status === 'cancelled'

/** A refund is known by our own key if we have asked for it. */
const claimIdOf = ({ refundKey, refundId }: Refund): string => refundKey ?? refundId
