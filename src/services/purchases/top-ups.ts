import type { AccountId, PurchaseId } from '../../../schemas/primitives.ts'
import type { TopUpSet } from '../../../schemas/top-up-events.ts'
import type { AccountState, TopUp } from '../../domain/account/state.ts'
import { activeTopUp, mayCharge, paidInMonth } from '../../domain/account/top-ups.ts'
import { decimalsOf } from '../../domain/currencies.ts'
import { amountOf, decimalsIn, minorOf } from '../../domain/decimal-amounts.ts'
import { fromMicros } from '../../domain/money.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { Unavailable } from '../../ports/faults.ts'
import { type ChargeOutcome, PaymentRefused, type Payments } from '../../ports/payments.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer } from '../answer.ts'
import { type AccountCaller, type Caller, keyIdOf } from '../caller.ts'
import type { PriceList, SaleQuote } from './price-list.ts'
import { payableQuote, purchaseAt } from './quotes.ts'
import { recordedPayment, SERVICE } from './recorded-payment.ts'

interface Dependencies {
  accounts: AccountMailboxes
  clock: Clock
  random: Random
  priceList: Pick<PriceList, 'quote'>
  payments: Payments | undefined
  perHour: number
  /** As for other purchases. */
  withdrawalDays: number
}

/** What an owner asks for: as many credits each time, or as many as bring the balance to a target. */
export type NewTopUp = NewCredits & { monthlyAmount: string; beginAtOnce?: boolean | undefined }

type NewCredits = { underMicros: number } & ({ creditsMicros: number } | { targetMicros: number })

/** With what top-ups have paid in this month. */
export interface TopUpInfo extends TopUp {
  paidAmount: string
}

/**
 * Buys credits for accounts whose balance runs low, with the payment method of an earlier purchase. The account decides
 * that a top-up is due, in the append that leaves too few credits, and has one at a time. The payment service knows
 * each charge by its purchase, so an attempt can be repeated at any point.
 */
export class TopUps {
  readonly #dependencies: Dependencies

  readonly permissions = {
    find: 'read',
    set: 'settings',
    remove: 'settings',
    advance: 'operate',
    settle: 'operate',
  } as const

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  async find({ accountId }: AccountCaller): Promise<Answer<TopUpInfo>> {
    const { accounts, clock } = this.#dependencies
    const state = await accounts.shownState(accountId)
    const topUp = activeTopUp(state)
    if (!topUp) return refuse('top_up_not_found')
    const paidAmount = amountOf(paidInMonth(state, clock.nowMs()), topUp.settings.currency)
    return answer({ ...topUp, paidAmount })
  }

  /** Replaces the top-ups of an account. If the balance is already under the limit, the first one is due at once. */
  async set(caller: AccountCaller, { monthlyAmount, beginAtOnce, ...wanted }: NewTopUp): Promise<Answer<TopUpInfo>> {
    const { accounts, payments, withdrawalDays } = this.#dependencies
    if (!payments) return refuse('nothing_for_sale')
    if (!payments.chargesKeptMethods) return refuse('top_ups_unavailable')
    if (withdrawalDays > 0 && !beginAtOnce) return refuse('begin_at_once_required', { days: withdrawalDays })
    const highest = await this.#highestQuote(caller, payments, wanted)
    if ('refuse' in highest) return highest
    const { amount: price, currency } = highest.value
    if (decimalsIn(monthlyAmount) !== decimalsOf(currency)) return refuse('monthly_amount_invalid', { currency })
    if (minorOf({ amount: monthlyAmount }) < minorOf({ amount: price }))
      return refuse('monthly_amount_too_low', { price, currency })
    const settings: TopUpSet = { ...wanted, monthlyAmount, currency, ...(beginAtOnce && { beginAtOnce }) }
    const command = { type: 'SetTopUp', settings, keyId: keyIdOf(caller) } as const
    const outcome = await accounts.execute(caller, caller.accountId, command)
    if ('refuse' in outcome) return outcome
    const found = await this.find(caller)
    // They may have been turned off right after.
    return 'refuse' in found ? answer({ settings, failures: 0, paidAmount: amountOf(0n, currency) }) : found
  }

  /** The price of the largest top-up, if each can be bought. */
  async #highestQuote(caller: AccountCaller, payments: Payments, wanted: NewCredits): Promise<Answer<SaleQuote>> {
    const quote = (micros: number) =>
      payableQuote(this.#dependencies.priceList, payments, caller, { credits: fromMicros(micros) })
    if ('creditsMicros' in wanted) return quote(wanted.creditsMicros)
    const { underMicros, targetMicros } = wanted
    if (targetMicros <= underMicros) return refuse('target_too_low', { underMicros })
    // A top-up buys more than the gap between the two, and at most the whole target.
    const lowest = await quote(targetMicros - underMicros)
    return 'refuse' in lowest ? lowest : quote(targetMicros)
  }

  async remove(caller: AccountCaller): Promise<Answer<undefined>> {
    const command = { type: 'RemoveTopUp', keyId: keyIdOf(caller) } as const
    const outcome = await this.#dependencies.accounts.execute(caller, caller.accountId, command)
    return 'refuse' in outcome ? outcome : answer(undefined)
  }

  /** Takes the next steps of a top-up that is due. Rejects with Unavailable if the payment service cannot be asked. */
  async advance(_caller: Caller, accountId: AccountId): Promise<Answer<undefined>> {
    const { accounts, clock, payments } = this.#dependencies
    const state = await accounts.currentState(accountId)
    const { topUp } = state
    if (!payments || topUp?.dueAt === undefined || Date.parse(topUp.dueAt) > clock.nowMs()) return answer(undefined)
    const purchaseId = topUp.purchaseId ?? (await this.#open(accountId, topUp, state))
    if (purchaseId) await this.#pay(payments, accountId, purchaseId, true)
    return answer(undefined)
  }

  /** Records what has become of the charge of a top-up. Rejects with Unavailable if there is none yet. */
  async settle(_caller: Caller, accountId: AccountId, purchaseId: PurchaseId): Promise<Answer<undefined>> {
    const { payments } = this.#dependencies
    if (payments) await this.#pay(payments, accountId, purchaseId, false)
    return answer(undefined)
  }

  /** Undefined if the account refuses the purchase, or puts it off. */
  async #open(accountId: AccountId, { settings }: TopUp, state: AccountState): Promise<PurchaseId | undefined> {
    const { accounts, priceList, random, perHour, withdrawalDays } = this.#dependencies
    const { underMicros, creditsMicros = 0, targetMicros, beginAtOnce } = settings
    // The account decides whether it has enough by now.
    const balanceMicros = Math.min(state.balanceMicros, underMicros)
    // Whole credits, since nobody wants a bill for a part of one.
    const wanted = targetMicros === undefined ? creditsMicros : wholeCredits(targetMicros - balanceMicros)
    const quoted = await priceList.quote(SERVICE, { credits: fromMicros(wanted) })
    if ('refuse' in quoted) return this.#fail(accountId, quoted.refuse.code)
    const purchase = purchaseAt(quoted.value, random, { withdrawalDays, beginAtOnce })
    const outcome = await accounts.execute(SERVICE, accountId, { type: 'OpenTopUp', purchase, perHour })
    if (!('refuse' in outcome)) return (await accounts.state(accountId)).topUp?.purchaseId
    // Another process was faster, or the account has opened many purchases: the task comes again.
    const { code } = outcome.refuse
    return code === 'top_up_not_due' || code === 'too_many_purchases' ? undefined : this.#fail(accountId, code)
  }

  async #pay(payments: Payments, accountId: AccountId, purchaseId: PurchaseId, isDue: boolean) {
    const { accounts } = this.#dependencies
    const state = await accounts.currentState(accountId)
    const purchase = state.purchases.get(purchaseId)
    if (!purchase?.methodOf || purchase.payment) return
    const { checkoutId } = state.purchases.get(purchase.methodOf) ?? {}
    const paid = checkoutId === undefined ? undefined : (await payments.find(checkoutId))?.paid
    if (paid?.customerId === undefined || paid.methodId === undefined)
      return this.#fail(accountId, 'no_kept_method', purchaseId)
    const { customerId, methodId } = paid
    const { amount, currency, creditsMicros } = purchase
    const money = { amount, currency }
    const of = { purchaseId, accountId }
    const description = `${fromMicros(creditsMicros)} credits`
    const charge = { ...of, chargeKey: purchaseId, customerId, methodId, money, description }
    // After a day, the payment service no longer knows the key, and would charge again.
    const found = await payments.findCharge(customerId, purchaseId)
    // Top-ups may have been removed since the attempt began, or the account suspended, or it may owe credits.
    const charges = !found && isDue && mayCharge(await accounts.currentState(accountId))
    const made = found ?? (charges && (await attempt(payments, charge)))
    if (!made && !isDue) throw new Unavailable('the payment service does not show the charge of a top-up yet')
    if (!made) return void (await accounts.execute(SERVICE, accountId, { type: 'EndTopUp', purchaseId }))
    if (made.kind === 'waiting') return
    if (made.kind === 'declined') return this.#fail(accountId, made.code, purchaseId)
    const facts = { ...paid, paymentId: made.paymentId, money, tax: NO_TAX, invoiceId: undefined }
    const payment = recordedPayment(purchaseId, facts)
    await accounts.execute(SERVICE, accountId, { type: 'PayPurchase', payment })
  }

  async #fail(accountId: AccountId, code: string, purchaseId?: PurchaseId): Promise<undefined> {
    await this.#dependencies.accounts.execute(SERVICE, accountId, { type: 'FailTopUp', code, purchaseId })
    return undefined
  }
}

/** The operator's tax is in the price. Stripe computes it on its own pages only. */
const NO_TAX = { amount: '0', currency: 'EUR' }

const wholeCredits = (micros: number): number => Math.ceil(micros / 1e6) * 1e6

const attempt = async (payments: Payments, charge: Parameters<Payments['charge']>[0]): Promise<ChargeOutcome> => {
  try {
    return await payments.charge(charge)
  } catch (error) {
    if (error instanceof PaymentRefused) return { kind: 'declined', code: error.code }
    throw error
  }
}
