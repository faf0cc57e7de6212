import type { PriceList } from '../../../schemas/packs.ts'
import type { AccountId, PurchaseId } from '../../../schemas/primitives.ts'
import { fromMinorUnits, toMinorUnits } from '../../../src/adapters/payments/minor-units.ts'
import type { Money } from '../../../src/ports/payments.ts'
import { customAmount, pack } from '../../support/pack-samples.ts'
import { operator } from './callers.ts'
import type { ClientKeys } from './keys.ts'
import { NO_KEY, NOTHING, outcomeOf } from './outcome.ts'
import type { Running } from './process.ts'
import type { World } from './world.ts'

/** Credits for a run or a few, at prices whose parts are seldom whole. Those that expire are used first. */
export const priceList: PriceList = {
  packs: [
    pack('small', { creditsMicros: 20_000_000, amount: '2.99', validDays: 1 }),
    pack('bonus', { creditsMicros: 30_000_000, bonusMicros: 7_000_001, amount: '3.33', validDays: 1 }),
    pack('yen', { creditsMicros: 15_000_000, amount: '170', currency: 'JPY' }),
  ],
  customAmount: customAmount({ minCreditsMicros: 5_000_000, maxCreditsMicros: 40_000_000, amountPerCredit: '0.0333' }),
}

const WANTED = [{ pack: 'small' }, { pack: 'bonus' }, { pack: 'yen' }, { credits: 7 }, { credits: 12.345678 }]

/** How long a customer takes to pay. */
const PAYS_WITHIN_MS = 5_000

/** Limits above what most accounts have, so that the first top-up is often due at once. */
const TOP_UPS = [
  { underMicros: 250_000_000, creditsMicros: 10_000_000 },
  { underMicros: 80_000_000, creditsMicros: 20_000_000 },
  { underMicros: 30_000_000, targetMicros: 40_000_000 },
]

/** The most that the top-ups of an account may pay in a month, in EUR. */
export const MONTHLY_AMOUNT = '2.00'

/** The purchases of one client, which are paid, refunded and disputed, and its top-ups. */
export class ClientPurchases {
  readonly #world: World
  readonly #accountId: AccountId
  readonly #keys: ClientKeys
  readonly #opened: ({ purchaseId: PurchaseId } & Money)[] = []

  constructor(world: World, accountId: AccountId, keys: ClientKeys) {
    this.#world = world
    this.#accountId = accountId
    this.#keys = keys
  }

  async buy(running: Running): Promise<string> {
    const { chance, truth, timeline, payments } = this.#world
    const caller = await this.#keys.caller(running)
    if (!caller) return NO_KEY
    const told = await running.services.purchases.open(caller, chance.pick(WANTED), {
      beginAtOnce: true,
      keepsMethod: chance.happens(0.9),
    })
    if ('value' in told) {
      const { purchaseId, url } = told.value
      truth.purchases.expectShown(told.value)
      if (url === undefined) this.#world.violation(`${purchaseId} was opened without a page`)
      this.#opened.push(told.value)
      timeline.after(chance.between(0, PAYS_WITHIN_MS), () => payments.visit(purchaseId))
    }
    return outcomeOf(told)
  }

  /** Comes back from paying, or not. */
  async comeBack(running: Running): Promise<string> {
    const caller = await this.#keys.caller(running)
    const purchase = this.#world.chance.pick(this.#opened)
    if (!caller || !purchase) return NOTHING
    const told = await running.services.purchases.settle(caller, purchase.purchaseId)
    if ('value' in told) this.#world.truth.purchases.expectShown(told.value)
    return outcomeOf(told)
  }

  async setTopUp(running: Running): Promise<string> {
    const caller = await this.#keys.caller(running)
    if (!caller) return NO_KEY
    const wanted = { ...this.#world.chance.pick(TOP_UPS), monthlyAmount: MONTHLY_AMOUNT, beginAtOnce: true }
    return outcomeOf(await running.services.topUps.set(caller, wanted))
  }

  async removeTopUp(running: Running): Promise<string> {
    const caller = await this.#keys.caller(running)
    return caller ? outcomeOf(await running.services.topUps.remove(caller)) : NO_KEY
  }

  /** The operator returns a part of a purchase, or all that is left. */
  async refundPurchase({ services }: Running): Promise<string> {
    const { chance, truth } = this.#world
    const purchase = chance.pick(this.#opened)
    if (!purchase) return NOTHING
    const { purchaseId, currency } = purchase
    const part = fromMinorUnits(1 + chance.below(toMinorUnits(purchase)), currency)
    const amount = chance.happens(0.5) ? part.amount : undefined
    const told = await services.purchaseRefunds.refund(operator, purchaseId, { amount, reason: 'goodwill' })
    if ('value' in told) truth.purchases.expectClaim(purchaseId, told.value.claimId)
    return outcomeOf(told)
  }

  async refundAtService(): Promise<string> {
    return this.#world.payments.refundAtService(this.#accountId) ? 'ok' : NOTHING
  }

  async dispute(): Promise<string> {
    return this.#world.payments.dispute(this.#accountId) ? 'ok' : NOTHING
  }
}
