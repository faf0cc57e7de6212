import type { AccountId } from '../../../schemas/primitives.ts'
import { fromMinorUnits, toMinorUnits, unfit } from '../../../src/adapters/payments/minor-units.ts'
import { InDoubt, Unavailable } from '../../../src/ports/faults.ts'
import {
  type Charge,
  type ChargeOutcome,
  type Checkout,
  type CheckoutState,
  type Dispute,
  type Money,
  PaymentRefused,
  type PaymentReport,
  type Payments,
  type PurchaseOf,
  type Refund,
  type RefundRequest,
  SignatureInvalid,
} from '../../../src/ports/payments.ts'
import type { World } from './world.ts'

interface Session {
  sessionId: string
  checkout: Checkout
  status: CheckoutState['status']
  payment?: Payment
}

export interface Payment {
  paymentId: string
  purchase: PurchaseOf
  money: Money
  refunds: Refund[]
  disputes: Dispute[]
}

interface MadeCharge {
  charge: Charge
  atMs: number
  /** What was answered, and what has become of it since. */
  answer: ChargeOutcome
  outcome: ChargeOutcome
}

/** A report, as it is sent. */
type SentReport = PaymentReport & { eventId: string }

/** Stands for the signature of all reports. */
const SIGNATURE = 'signed'

/** The longest time until a bank decides. */
const BANK_MS = 8_000

/** The longest time until a report is sent, so that others overtake it, and how long its sender waits for an answer. */
const REPORTED_WITHIN_MS = 3_000
const PATIENCE_MS = 20_000

/** Whoever asks learns the same. */
const LOSABLE = new Set<PaymentReport['kind']>(['checkout_paid', 'checkout_expired', 'charge_changed'])

/** How long the service knows the key of a charge. */
const KEY_MS = 24 * 3_600_000

/** How long the sender of a report waits before it sends it again. */
const AGAIN_MS = 2_000

/**
 * The payment service of a world, with the pages where customers pay, and the banks behind it. It reports what happens
 * in any order, twice, or not at all.
 */
export class SimulatedPayments {
  readonly payments = new Map<string, Payment>()
  readonly #world: World
  /** By the purchase, which is the idempotency key. */
  readonly #sessions = new Map<string, Session>()
  readonly #charges: MadeCharge[] = []
  readonly #reports = new Set<SentReport>()
  #ids = 0
  #undecided = 0

  constructor(world: World) {
    this.#world = world
  }

  port(): Payments {
    return {
      ...{ check: async () => undefined, unfit, isTest: true, chargesKeptMethods: true },
      open: async checkout => this.#open(checkout),
      find: async sessionId => this.#find(sessionId),
      refund: async request => ({ ...this.#refund(request.paymentId, request) }),
      refundsOf: async paymentId => structuredClone(this.payments.get(paymentId)?.refunds.toReversed() ?? []),
      findDispute: async disputeId => this.#findDispute(disputeId),
      charge: async charge => this.#charge(charge),
      findCharge: async (customerId, chargeKey) =>
        this.#charges.find(({ charge }) => charge.customerId === customerId && charge.chargeKey === chargeKey)?.outcome,
      paymentOf: async paymentId => {
        const payment = this.payments.get(paymentId)
        return payment && { ...payment.purchase, fee: feeOf(payment) }
      },
      read: async (body, signature) => {
        if (signature !== SIGNATURE) throw new SignatureInvalid('missing')
        return JSON.parse(body.toString())
      },
    }
  }

  /** A customer comes to the page of a purchase, and pays, orders the bank to pay, or leaves. */
  visit(purchaseId: string) {
    const { chance } = this.#world
    const session = this.#sessions.get(purchaseId)
    if (!session || this.#statusOf(session) !== 'open') return
    const act = chance.pick(['pay', 'pay', 'pay', 'order', 'leave'] as const)
    this.#world.count(`customer: ${act}`)
    if (act === 'leave') return
    session.status = 'complete'
    if (act === 'pay') return this.#receive(session)
    this.#report({ kind: 'checkout_waiting', ...named(session) })
    this.#later(() => {
      if (chance.happens(0.5)) this.#receive(session)
      else this.#report({ kind: 'checkout_failed', ...named(session) })
    })
  }

  /** Pays a part or all of a payment back at the service itself. False if that cannot be. */
  refundAtService(accountId: AccountId): boolean {
    const payment = this.#world.chance.pick(this.#of(accountId))
    const left = payment ? leftOf(payment) : 0
    if (!payment || left === 0 || isDisputed(payment)) return false
    this.#refund(payment.paymentId, { money: this.#partOf(payment, left) })
    return true
  }

  /** A customer disputes what was not paid back of a payment, or a part of it. False if there is nothing to dispute. */
  dispute(accountId: AccountId): boolean {
    const { chance } = this.#world
    const payment = chance.pick(this.#of(accountId))
    const left = payment ? leftOf(payment) : 0
    if (!payment || left === 0 || payment.disputes.length > 0) return false
    const { paymentId } = payment
    const money = this.#partOf(payment, left)
    const dispute: Dispute = { disputeId: this.#id('du'), paymentId, money, status: 'open' }
    payment.disputes.push(dispute)
    const become = (status: Dispute['status']) => {
      dispute.status = status
      this.#report({ kind: 'dispute_changed', dispute: { ...dispute } })
    }
    become('open')
    const end = chance.pick(['won', 'lost', 'lost on appeal'] as const)
    this.#later(() => {
      become(end === 'lost' ? 'lost' : 'won')
      if (end !== 'lost on appeal') return
      this.#later(() => {
        // What was paid back meanwhile is not disputed again.
        if (toMinorUnits(money) <= leftOf(payment)) become('lost')
      })
    })
    return true
  }

  /** What has not come to its end. */
  pending(): string[] {
    const reports = [...this.#reports].map(({ kind, eventId }) => `the report ${eventId} of ${kind} was never accepted`)
    return this.#undecided > 0 ? [...reports, `${this.#undecided} payments are undecided`] : reports
  }

  #open(checkout: Checkout) {
    const { purchaseId } = checkout
    const session = this.#sessions.get(purchaseId) ?? { sessionId: this.#id('cs'), checkout, status: 'open' }
    this.#sessions.set(purchaseId, session)
    const { sessionId } = session
    return { sessionId, url: this.#urlOf(session), expiresAtMs: session.checkout.expiresAtMs }
  }

  #find(sessionId: string): CheckoutState | undefined {
    const session = [...this.#sessions.values()].find(each => each.sessionId === sessionId)
    if (!session) return undefined
    const { payment } = session
    const { purchaseId, keepsMethod } = session.checkout
    const kept = { customerId: `cus_${purchaseId}`, methodId: keepsMethod ? `pm_${purchaseId}` : undefined }
    const paid = payment && { ...factsOf(payment), ...kept, invoice: undefined, fee: feeOf(payment) }
    return { ...named(session), status: this.#statusOf(session), paid, url: this.#urlOf(session) }
  }

  #findDispute(disputeId: string): Dispute | undefined {
    const disputes = [...this.payments.values()].flatMap(payment => payment.disputes)
    return structuredClone(disputes.find(dispute => dispute.disputeId === disputeId))
  }

  #urlOf(session: Session): string | undefined {
    return this.#statusOf(session) === 'open' ? `https://pay.example/${session.sessionId}` : undefined
  }

  #statusOf(session: Session): CheckoutState['status'] {
    const isOver = this.#world.epochMs + this.#world.timeline.nowMs >= session.checkout.expiresAtMs
    if (session.status === 'open' && isOver) {
      session.status = 'expired'
      this.#report({ kind: 'checkout_expired', ...named(session) })
    }
    return session.status
  }

  /** The money of a checkout arrives. */
  #receive(session: Session) {
    const payment = this.#take(session.checkout)
    session.payment = payment
    this.#report({ kind: 'checkout_paid', ...named(session), facts: factsOf(payment) })
  }

  #take({ purchaseId, accountId, money }: Checkout | Charge): Payment {
    const purchase = { purchaseId, accountId }
    const payment: Payment = { paymentId: this.#id('pi'), purchase, money, refunds: [], disputes: [] }
    this.payments.set(payment.paymentId, payment)
    return payment
  }

  /** Asks the bank for the money of a charge. It pays, declines, or decides later. */
  #charge(charge: Charge): ChargeOutcome {
    const { chance, timeline, epochMs } = this.#world
    const atMs = epochMs + timeline.nowMs
    const known = this.#charges.find(each => each.charge.chargeKey === charge.chargeKey && atMs - each.atMs < KEY_MS)
    if (known) return known.answer
    const act = chance.pick(['pay', 'pay', 'pay', 'wait', 'decline'] as const)
    this.#world.count(`charge: ${act}`)
    const made: MadeCharge = { charge, atMs, answer: { kind: 'waiting' }, outcome: { kind: 'waiting' } }
    this.#charges.push(made)
    const decide = (isPaid: boolean) => {
      made.outcome = isPaid
        ? { kind: 'succeeded', paymentId: this.#take(charge).paymentId }
        : { kind: 'declined', code: 'insufficient_funds' }
      const { purchaseId, accountId } = charge
      this.#report({ kind: 'charge_changed', purchaseId, accountId })
    }
    if (act === 'wait') this.#later(() => decide(chance.happens(0.5)))
    else decide(act === 'pay')
    made.answer = made.outcome
    return made.answer
  }

  #refund(paymentId: string, { money, refundKey }: Pick<RefundRequest, 'money'> & { refundKey?: string }): Refund {
    const { chance, faults } = this.#world
    const payment = this.payments.get(paymentId)
    const known = payment?.refunds.find(refund => refundKey !== undefined && refund.refundKey === refundKey)
    if (known) return known
    if (!payment) throw new PaymentRefused('resource_missing', `there is no payment ${paymentId}`)
    if (isDisputed(payment)) throw new PaymentRefused('charge_disputed', `${paymentId} is disputed`)
    if (toMinorUnits(money) > leftOf(payment)) throw new PaymentRefused('amount', `${paymentId} has less left`)
    const status = chance.pick(['pending', 'succeeded'] as const)
    const refund: Refund = { refundId: this.#id('re'), paymentId, money, status, refundKey }
    payment.refunds.push(refund)
    const become = (status: Refund['status']) => {
      refund.status = status
      this.#report({ kind: 'refund_changed', refund: { ...refund } })
    }
    become(status)
    const fails = chance.happens(faults.refundFails)
    if (fails || status === 'pending') this.#later(() => become(fails ? 'failed' : 'succeeded'))
    return refund
  }

  #partOf({ money }: Payment, left: number): Money {
    const { chance } = this.#world
    return fromMinorUnits(chance.happens(0.5) ? left : 1 + chance.below(left), money.currency)
  }

  #of(accountId: AccountId): Payment[] {
    return [...this.payments.values()].filter(({ purchase }) => purchase.accountId === accountId)
  }

  /** A bank decides something later. */
  #later(decide: () => void) {
    const { timeline, chance } = this.#world
    this.#undecided += 1
    timeline.after(chance.between(0, BANK_MS), () => {
      this.#undecided -= 1
      decide()
    })
  }

  #report(told: PaymentReport) {
    const { chance, faults } = this.#world
    const report = { eventId: this.#id('evt'), ...told }
    if (LOSABLE.has(told.kind) && chance.happens(faults.reportLost)) return this.#world.count('report lost')
    this.#reports.add(report)
    void this.#send(report)
    if (chance.happens(faults.reportLost)) void this.#send(report)
  }

  /** Sends a report to any process, until one accepts it. */
  async #send(report: SentReport) {
    const { chance, timeline, processes } = this.#world
    const body = Buffer.from(JSON.stringify(report))
    await timeline.pass(chance.between(0, REPORTED_WITHIN_MS))
    while (!(await Promise.race([this.#isAccepted(body), timeline.pass(PATIENCE_MS)]))) {
      this.#world.trace(`${report.eventId} of ${report.kind} is sent again`)
      await timeline.pass(chance.between(1, AGAIN_MS) * processes.length)
    }
    this.#reports.delete(report)
  }

  async #isAccepted(body: Buffer): Promise<boolean> {
    const { chance, processes, faults } = this.#world
    const { running, name } = chance.pick(processes)
    if (!running) return false
    try {
      const report = { signature: SIGNATURE, readBody: async () => body }
      const told = await running.services.paymentReports.receive({ kind: 'anonymous' }, report)
      if ('refuse' in told) this.#world.violation(`${name} refuses a report with ${told.refuse.code}`)
      return !chance.happens(faults.answerLost)
    } catch (error) {
      if (!(error instanceof Unavailable || error instanceof InDoubt))
        this.#world.violation(`${name} fails at a report with ${(error as Error).stack}`)
      return false
    }
  }

  #id(prefix: string): string {
    this.#ids += 1
    return `${prefix}_${this.#ids}`
  }
}

const named = ({ sessionId, checkout: { purchaseId, accountId } }: Session) => ({ sessionId, purchaseId, accountId })

const factsOf = ({ paymentId, money }: Payment) => ({
  ...{ paymentId, money, tax: fromMinorUnits(0, money.currency), country: 'DE' },
  ...{ cardCountry: undefined, hasTaxId: false },
  ...{ address: undefined, email: undefined, customerId: undefined, invoiceId: undefined },
})

const feeOf = ({ money }: Payment): Money => fromMinorUnits(Math.ceil(toMinorUnits(money) / 50), money.currency)

/** What was not paid back of a payment, in the smallest units. */
const leftOf = ({ money, refunds }: Payment): number =>
  refunds.reduce(
    (left, refund) => (refund.status === 'failed' ? left : left - toMinorUnits(refund.money)),
    toMinorUnits(money),
  )

const isDisputed = ({ disputes }: Payment): boolean => disputes.some(({ status }) => status !== 'won')
