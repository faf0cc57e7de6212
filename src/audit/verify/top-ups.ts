import { clockOf } from '../../../schemas/recorded.ts'
import type { AuditedEvent, Report, Rule } from '../fault.ts'

interface Purchase {
  status: 'open' | 'paid' | 'closed'
  keepsMethod: boolean
  isTopUp: boolean
  paid?: { currency: unknown; amount: bigint; month: string }
}

interface Attempt {
  dueAt: string
  purchaseId?: unknown
}

/** So many top-ups that fail in a row are the last ones. */
const MAX_FAILURES = 3

/**
 * A top-up is due where the owner has set one and too few credits are left, one at a time. Its purchase uses a payment
 * method that was kept, stays within the monthly amount, and has ended when the top-up is settled.
 */
export class TopUps implements Rule {
  readonly #purchases = new Map<unknown, Purchase>()
  #settings: AuditedEvent['data'] | undefined
  #attempt: Attempt | undefined
  #failures = 0
  #hasJustFailed = false
  #balanceMicros = 0
  #owedMicros = 0
  #isSuspended = false

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    const { balanceAfterMicros = this.#balanceMicros, owedAfterMicros = this.#owedMicros } = data
    this.#balanceMicros = Number(balanceAfterMicros)
    this.#owedMicros = Number(owedAfterMicros)
    const isRetry = this.#hasJustFailed
    this.#hasJustFailed = false
    switch (type) {
      case 'AccountSuspended':
      case 'AccountResumed':
        this.#isSuspended = type === 'AccountSuspended'
        return
      case 'PurchaseOpened':
        return this.#open(event, report)
      case 'PurchasePaid':
        return this.#pay(event)
      case 'PurchaseClosed': {
        const purchase = this.#purchases.get(data['purchaseId'])
        if (purchase?.status === 'open') purchase.status = 'closed'
        return
      }
      case 'TopUpSet':
        this.#settings = data
        this.#failures = 0
        return
      case 'TopUpDue':
        if (this.#attempt?.purchaseId !== undefined) report('another top-up is under way')
        if (this.#failures >= MAX_FAILURES) report(`${this.#failures} top-ups in a row have failed`)
        if (!isRetry) this.#need(report)
        this.#attempt = { dueAt: String(data['at']) }
        return
      case 'TopUpSettled':
        return this.#settle(data['outcome'], report)
      case 'TopUpRemoved':
        if (!this.#settings) report('the account has no top-ups')
        if (this.#attempt && this.#attempt.purchaseId === undefined) report('the top-up that is due is not settled')
        if (data['reason'] === 'failures' && this.#failures !== MAX_FAILURES)
          report(`${this.#failures} top-ups in a row have failed`)
        this.#settings = undefined
    }
  }

  #need(report: Report) {
    if (!this.#settings) return report('the account has no top-ups')
    const { underMicros } = this.#settings
    if (this.#balanceMicros >= Number(underMicros))
      report(`the account has ${this.#balanceMicros} microcredits, which are not under ${underMicros}`)
    if (this.#isSuspended) report('the account is suspended')
    if (this.#owedMicros > 0) report(`the account owes ${this.#owedMicros} microcredits`)
  }

  #open(event: AuditedEvent, report: Report) {
    const { purchaseId, methodOf, keepsMethod, amount, currency } = event.data
    const isTopUp = methodOf !== undefined
    this.#purchases.set(purchaseId, { status: 'open', keepsMethod: keepsMethod === true, isTopUp })
    if (!isTopUp) return
    const method = this.#purchases.get(methodOf)
    if (!method?.keepsMethod || method.status !== 'paid') report(`the payment method of ${methodOf} was not kept`)
    const at = clockOf(event)
    if (!this.#attempt || at < this.#attempt.dueAt) report('no top-up is due')
    else if (this.#attempt.purchaseId !== undefined) report('another top-up is under way')
    this.#attempt = { dueAt: at, ...this.#attempt, purchaseId }
    this.#need(report)
    if (!this.#settings) return
    const { currency: wanted, monthlyAmount } = this.#settings
    if (currency !== wanted) report(`it is in ${currency}, and top-ups are in ${wanted}`)
    const month = monthOf(at)
    const paid = [...this.#purchases.values()].reduce(
      (sum, each) =>
        each.isTopUp && each.paid && each.paid.month >= month && each.paid.currency === currency
          ? sum + each.paid.amount
          : sum,
      minorOf(amount),
    )
    if (paid > minorOf(monthlyAmount)) report(`with it, top-ups exceed ${monthlyAmount} ${wanted} in ${month}`)
  }

  #pay({ data: { purchaseId, amount, currency }, metadata: { at } }: AuditedEvent) {
    const purchase = this.#purchases.get(purchaseId)
    if (purchase)
      Object.assign(purchase, { status: 'paid', paid: { currency, amount: minorOf(amount), month: monthOf(at) } })
  }

  #settle(outcome: unknown, report: Report) {
    const { purchaseId } = this.#attempt ?? {}
    const status = purchaseId === undefined ? 'none' : this.#purchases.get(purchaseId)?.status
    if (!this.#attempt) report('no top-up is due')
    else if (outcome === 'paid' ? status !== 'paid' : status !== 'none' && status !== 'closed')
      report(`it is ${outcome}, and its purchase is ${status}`)
    this.#attempt = undefined
    this.#hasJustFailed = outcome === 'failed'
    if (outcome === 'failed') this.#failures += 1
    if (outcome === 'paid') this.#failures = 0
  }
}

const monthOf = (at: string): string => at.slice(0, 'yyyy-mm'.length)

const minorOf = (amount: unknown): bigint => BigInt(String(amount).replace('.', ''))
