import { isDeepStrictEqual } from 'node:util'
import type { AuditedEvent, Report, Rule } from '../fault.ts'

interface Purchase {
  creditsMicros: unknown
  days: unknown
  paid?: { amount: unknown; currency: unknown }
  paidAt?: string
  isWithdrawn?: boolean
}

/**
 * A customer withdraws from the contract about a purchase once and in time, and what is paid back is requested in the
 * same append, which ends with the receipt.
 */
export class Withdrawals implements Rule {
  readonly #purchases = new Map<unknown, Purchase>()
  /** The refund and the receipt that must follow. */
  #claimId: unknown
  #receipt: object | undefined

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    const { purchaseId, amount, currency } = data
    const { at } = event.metadata as { at: string }
    this.#meet(event, report)
    const purchase = this.#purchases.get(purchaseId)
    if (type === 'PurchaseOpened') {
      const { creditsMicros, withdrawalDays: days, beginAtOnce } = data
      if (days !== undefined && !beginAtOnce) report('the customer did not ask to begin at once')
      this.#purchases.set(purchaseId, { creditsMicros, days })
    }
    if (type === 'PurchasePaid' && purchase) Object.assign(purchase, { paid: { amount, currency }, paidAt: at })
    if (type !== 'WithdrawalDeclared') return
    const { creditsMicros, days, paid, paidAt, isWithdrawn } = purchase ?? {}
    if (!purchase || !paid || paidAt === undefined) return report('the purchase was not paid')
    if (isWithdrawn) report('the customer has withdrawn before')
    if (days === undefined) report('the customer has no right to withdraw')
    else if (Date.parse(at) >= endOf(paidAt, Number(days))) report('the time to withdraw was over')
    purchase.isWithdrawn = true
    if ((data['claimId'] === undefined) !== (Number(amount) === 0)) report('its refund and its amount contradict')
    this.#claimId = data['claimId']
    this.#receipt = { purchaseId, declaredAt: at, paidAt, creditsMicros, paid, refund: { amount, currency } }
  }

  end(report: (what: string) => void) {
    if (this.#receipt) report('the stream ends before the receipt of a withdrawal')
  }

  #meet({ type, data }: AuditedEvent, report: Report) {
    const { kind, ...facts } = (data['notice'] ?? {}) as { kind?: string }
    const isReceipt = type === 'NoticeRaised' && kind === 'withdrawal_received'
    if (this.#claimId !== undefined) {
      const isRefund = type === 'RefundRequested' && data['claimId'] === this.#claimId
      if (!isRefund) report('the refund of a withdrawal does not follow')
      this.#claimId = undefined
    } else if (isReceipt) {
      if (!this.#receipt) report('it is the receipt of no withdrawal')
      else if (!isDeepStrictEqual(facts, this.#receipt)) report('the receipt is not that of the withdrawal')
      this.#receipt = undefined
    } else if (this.#receipt && type !== 'CreditsWithdrawn' && type !== 'NoticeRaised') {
      report('the receipt of a withdrawal is missing')
      this.#receipt = undefined
    }
  }
}

/** The end of the last day everywhere, in ms since 1970. A last day on a weekend is moved to Monday. */
const endOf = (paidAt: string, days: number): number => {
  const day = new Date(Date.parse(paidAt) + 14 * HOUR_MS)
  day.setUTCHours(0, 0, 0, 0)
  day.setUTCDate(day.getUTCDate() + days)
  while (day.getUTCDay() % 6 === 0) day.setUTCDate(day.getUTCDate() + 1)
  return day.getTime() + (24 + 12) * HOUR_MS
}

const HOUR_MS = 60 * 60 * 1000
