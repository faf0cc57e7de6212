import { fold } from '../../../projections/define.ts'
import { purchases as purchaseView } from '../../../projections/purchases.ts'
import type * as schemas from '../../../schemas/packs.ts'
import type { AccountId, PurchaseId } from '../../../schemas/primitives.ts'
import type { PurchaseOpened } from '../../../schemas/purchase-events.ts'
import type { PurchaseRow } from '../../../schemas/views.ts'
import type { OpenedCheckout } from '../../domain/account/commands.ts'
import { mailAddress } from '../../domain/account/notices.ts'
import { webhookUrlFault } from '../../domain/http-url.ts'
import { fromMicros } from '../../domain/money.ts'
import { refuse } from '../../domain/refusal.ts'
import { Pace } from '../../flow/pace.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import { type Checkout, type Invoice, type Money, PaymentRefused, type Payments } from '../../ports/payments.ts'
import type { Random } from '../../ports/random.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type Answer, answer, type Refused } from '../answer.ts'
import { type AccountCaller, type Caller, keyIdOf } from '../caller.ts'
import { isPurchaseId } from '../ids.ts'
import { NewestFirst, type Page, type WaitingClient } from '../views/newest-first.ts'
import type { Reads } from '../views/reads.ts'
import { CREDITS_PATH, purchasePath } from './pages.ts'
import type { PriceList, SaleQuote, Wanted } from './price-list.ts'
import { payableQuote, purchaseAt } from './quotes.ts'
import { recordedPayment, SERVICE } from './recorded-payment.ts'
import type { TopUps } from './top-ups.ts'

/** How long the page of the payment service stays open. */
const CHECKOUT_MS = 23 * 60 * 60 * 1000

/**
 * How often the requests of an account may ask the payment service. All accounts share its limit:
 * https://docs.stripe.com/rate-limits. Beyond this, reports and due work bring the changes.
 */
const ASKING = { burst: 10, perSecond: 1 }

const SECOND_MS = 1000

/** Longer than opening the page can take. */
const OPENING_MS = 30 * 60 * 1000

export interface PurchaseDependencies {
  accounts: AccountMailboxes
  reads: Reads
  clock: Clock
  random: Random
  priceList: Pick<PriceList, 'packs' | 'quote'>
  /** Undefined if the service sells nothing. */
  payments: Payments | undefined
  topUps: Pick<TopUps, 'settle'>
  perHour: number
  /** The days after a payment in which customers may withdraw from the contract; 0 for none. */
  withdrawalDays: number
  publicUrl: () => string
  logger: Logger
}

/** Where the customer goes from the page of the payment service. By default, to pages of the console. */
export interface ReturnUrls {
  successUrl?: string | undefined
  cancelUrl?: string | undefined
}

interface Terms extends ReturnUrls {
  /** Whether the customer asks for the credits before the days for withdrawal end. */
  beginAtOnce?: boolean | undefined
  /** Whether the payment service keeps the payment method, for top-ups. */
  keepsMethod?: boolean | undefined
}

/** What is for sale. */
export interface ForSale extends schemas.PriceList {
  /** Buyers must ask to begin before these days end, unless there are none. */
  withdrawalDays: number
  /** Whether accounts can have automatic top-ups. */
  canTopUp: boolean
}

/** An invoice that customers can see. */
export type IssuedInvoice = Invoice & { url: string }

/** Sells credits on the page of a payment service. */
export class Purchases {
  readonly #dependencies: PurchaseDependencies
  readonly #newestFirst: NewestFirst
  readonly #asking: Pace

  readonly permissions = {
    // A test key buys nothing.
    open: 'settings',
    forSale: 'read',
    find: 'read',
    list: 'read',
    settle: 'read',
    // Anyone with the link sees the name and the address of the buyer.
    invoice: 'settings',
    check: 'operate',
  } as const

  constructor(dependencies: PurchaseDependencies) {
    this.#dependencies = dependencies
    this.#newestFirst = new NewestFirst(dependencies)
    this.#asking = new Pace({ clock: dependencies.clock, ...ASKING })
  }

  /** What can be bought now. Without a payment service, that is nothing, whatever the price list says. */
  async forSale(caller: Caller): Promise<Answer<ForSale>> {
    const { payments, priceList, withdrawalDays } = this.#dependencies
    const list = payments ? await priceList.packs(caller) : answer<schemas.PriceList>({ packs: [] })
    if ('refuse' in list) return list
    const canTopUp = payments?.chargesKeptMethods === true && list.value.customAmount !== undefined
    return answer({ ...list.value, withdrawalDays, canTopUp })
  }

  /**
   * Opens a purchase, and the page on which it is paid. The purchase is recorded first, so that a payment always finds
   * it. Rejects with Unavailable, also if the payment service cannot be reached.
   */
  async open(
    caller: AccountCaller,
    wanted: Wanted,
    { beginAtOnce, keepsMethod, ...urls }: Terms = {},
  ): Promise<Answer<PurchaseRow>> {
    const { accounts, random, priceList, perHour, withdrawalDays, payments } = this.#dependencies
    const invalid = invalidUrl(urls)
    if (invalid) return invalid
    if (!payments) return refuse('nothing_for_sale')
    const quoted = await payableQuote(priceList, payments, caller, wanted)
    if ('refuse' in quoted) return quoted
    const purchase = {
      ...purchaseAt(quoted.value, random, { withdrawalDays, beginAtOnce }),
      ...(keepsMethod && payments.chargesKeptMethods && { keepsMethod: true as const }),
    }
    const { accountId } = caller
    const command = { type: 'OpenPurchase', purchase, perHour, keyId: keyIdOf(caller) } as const
    const opened = await accounts.execute(caller, accountId, command)
    if ('refuse' in opened) return opened
    const checkout = await this.#openCheckout(payments, accountId, purchase, quoted.value, urls)
    if ('refuse' in checkout) return checkout
    // The caller's key may have been revoked meanwhile, and the page is there.
    const recorded = await accounts.execute(SERVICE, accountId, { type: 'OpenCheckout', ...checkout })
    if ('refuse' in recorded) return recorded
    return answer(fold(purchaseView, [...opened.accept, ...recorded.accept]) as PurchaseRow)
  }

  async #openCheckout(
    payments: Payments,
    accountId: AccountId,
    purchase: PurchaseOpened,
    quote: SaleQuote,
    urls: ReturnUrls,
  ): Promise<Refused | OpenedCheckout> {
    const { accounts, logger } = this.#dependencies
    const { purchaseId } = purchase
    try {
      const { sessionId, url, expiresAtMs } = await payments.open(
        await this.#checkoutOf(accountId, purchase, quote, urls),
      )
      const expiresAt = new Date(expiresAtMs).toISOString()
      return { purchaseId, checkoutId: sessionId, ...(url !== undefined && { url }), expiresAt }
    } catch (error) {
      if (!(error instanceof PaymentRefused)) throw error
      logger.error({ err: error, accountId, purchaseId }, 'a purchase was refused')
      await accounts.execute(SERVICE, accountId, { type: 'ClosePurchase', purchaseId, reason: 'failed' })
      return refuse('amount_not_payable', { reason: `the payment service refuses it (${error.code})` })
    }
  }

  async #checkoutOf(
    accountId: AccountId,
    { purchaseId, keepsMethod }: PurchaseOpened,
    { name, amount, currency, taxCode, creditsMicros, bonusMicros }: SaleQuote,
    { successUrl, cancelUrl }: ReturnUrls,
  ): Promise<Checkout> {
    const { accounts, clock, publicUrl } = this.#dependencies
    const email = mailAddress(await accounts.state(accountId))
    const credits = `${fromMicros(creditsMicros + bonusMicros)} credits`
    return {
      ...{ purchaseId, accountId, name: name === credits ? name : `${name}: ${credits}`, taxCode, email },
      money: { amount, currency },
      successUrl: successUrl ?? `${publicUrl()}${purchasePath(purchaseId)}`,
      cancelUrl: cancelUrl ?? `${publicUrl()}${CREDITS_PATH}`,
      expiresAtMs: clock.nowMs() + CHECKOUT_MS,
      keepsMethod: keepsMethod === true,
    }
  }

  /** A purchase of the caller's account. */
  async find(caller: AccountCaller, purchaseId: string): Promise<Answer<PurchaseRow>> {
    const row = await this.#row(caller.accountId, purchaseId)
    return row ? answer(row) : refuse('purchase_not_found')
  }

  /** A page of the caller's purchases, newest first. */
  async list(
    { accountId }: AccountCaller,
    { limit, cursor }: { limit: number; cursor?: PurchaseId | undefined },
    client?: WaitingClient,
  ): Promise<Answer<Page<PurchaseRow, PurchaseId>>> {
    return answer(await this.#newestFirst.page('purchases', accountId, { limit, cursor, matches: () => true }, client))
  }

  /**
   * A purchase of the caller's account, after asking the payment service about it if it is open. A customer who returns
   * from the payment thus finds the credits even if the report is late.
   */
  async settle(caller: AccountCaller, purchaseId: string): Promise<Answer<PurchaseRow>> {
    const row = await this.#row(caller.accountId, purchaseId)
    if (!row) return refuse('purchase_not_found')
    // Without a page, the purchase cannot have been paid, and the page may be about to open.
    if (row.status === 'paid' || row.url === undefined || !this.#asking.allows(row.accountId)) return answer(row)
    this.#asking.count(row.accountId)
    return this.check(caller, caller.accountId, row.purchaseId)
  }

  /** The invoice at the payment service. Its addresses are not kept, because they expire. */
  async invoice(caller: AccountCaller, purchaseId: string): Promise<Answer<IssuedInvoice>> {
    const row = await this.#row(caller.accountId, purchaseId)
    if (!row) return refuse('purchase_not_found')
    const { payments } = this.#dependencies
    if (row.status !== 'paid' || row.checkoutId === undefined || !payments) return refuse('invoice_not_found')
    if (!this.#asking.allows(row.accountId)) return refuse('too_many_invoices', { retryAfterMs: SECOND_MS })
    this.#asking.count(row.accountId)
    const invoice = (await payments.find(row.checkoutId))?.paid?.invoice
    return invoice?.url === undefined ? refuse('invoice_not_found') : answer({ ...invoice, url: invoice.url })
  }

  /** Asks the payment service about a purchase, and records its state, with the fee once it is paid. */
  async check(_caller: Caller, accountId: AccountId, purchaseId: PurchaseId): Promise<Answer<PurchaseRow>> {
    const { accounts, payments, topUps } = this.#dependencies
    const purchase = (await accounts.currentState(accountId)).purchases.get(purchaseId)
    if (!purchase) return refuse('purchase_not_found')
    const { checkoutId, payment, methodOf } = purchase
    if (!payment && methodOf) await topUps.settle(SERVICE, accountId, purchaseId)
    else if (!payment) await this.#checkOpen(accountId, purchaseId, checkoutId)
    else if (!payment.hasFee)
      await this.#recordFee(accountId, purchaseId, (await payments?.paymentOf(payment.paymentId))?.fee)
    const row = await this.#row(accountId, purchaseId)
    return row ? answer(row) : refuse('purchase_not_found')
  }

  async #checkOpen(accountId: AccountId, purchaseId: PurchaseId, checkoutId: string | undefined) {
    const { accounts, payments } = this.#dependencies
    const found = checkoutId === undefined ? undefined : await payments?.find(checkoutId)
    if (found?.paid) {
      const payment = recordedPayment(purchaseId, found.paid)
      await accounts.execute(SERVICE, accountId, { type: 'PayPurchase', payment })
      await this.#recordFee(accountId, purchaseId, found.paid.fee)
      // A purchase whose page was never opened cannot be paid.
    } else if (found?.status === 'expired' || (checkoutId === undefined && (await this.#isOld(accountId, purchaseId))))
      await accounts.execute(SERVICE, accountId, { type: 'ClosePurchase', purchaseId, reason: 'expired' })
  }

  /** The payment service may not know its fee before some time has passed. */
  async #recordFee(accountId: AccountId, purchaseId: PurchaseId, fee: Money | undefined) {
    if (fee) await this.#dependencies.accounts.execute(SERVICE, accountId, { type: 'RecordFee', purchaseId, ...fee })
  }

  /** Whether the purchase is too old for its page to be about to open. */
  async #isOld(accountId: AccountId, purchaseId: PurchaseId): Promise<boolean> {
    const row = await this.#row(accountId, purchaseId)
    return row !== undefined && Date.parse(row.createdAt) < this.#dependencies.clock.nowMs() - OPENING_MS
  }

  #row(accountId: AccountId, purchaseId: string): Promise<PurchaseRow | undefined> {
    return readPurchase(this.#dependencies.reads, accountId, purchaseId)
  }
}

/** The payment service sends the customer's browser there. */
const invalidUrl = ({ successUrl, cancelUrl }: ReturnUrls): Refused | undefined => {
  for (const [parameter, url] of [['success_url', successUrl] as const, ['cancel_url', cancelUrl] as const]) {
    const fault = url === undefined ? undefined : webhookUrlFault(url)
    if (fault) return refuse('return_url_invalid', { parameter, fault })
  }
  return undefined
}

/** A purchase after all of this process's writes for its account. */
export const readPurchase = async (
  reads: Reads,
  accountId: AccountId,
  purchaseId: string,
): Promise<PurchaseRow | undefined> =>
  isPurchaseId(purchaseId) ? reads.getOwn(accountId, 'purchases', `${accountId}/${purchaseId}`) : undefined
