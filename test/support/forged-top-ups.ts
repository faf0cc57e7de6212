import type { AccountEvent } from '../../schemas/account-events.ts'
import type { AuditedEvent } from '../../src/audit/fault.ts'
import { World } from './account-world.ts'
import { failTopUp as fail, openPurchase, openTopUp, payPurchase, purchaseId, setTopUp } from './purchase-samples.ts'

/**
 * A top-up that is paid, one that fails twice, one that waits for the next month, and one that is under way when
 * top-ups are turned off.
 */
const world = new World(openPurchase({ keepsMethod: true }), payPurchase(), setTopUp())
world.run(1, 450)
for (const command of [openTopUp(2), payPurchase({ purchase: 2 })]) world.do(command)
world.run(2, 500)
for (const command of [openTopUp(3), fail(3)]) world.do(command)
world.days = 1 / 24
for (const command of [openTopUp(4), fail(4)]) world.do(command)
world.days += 1
for (const command of [openTopUp(5), payPurchase({ purchase: 5 })]) world.do(command)
world.run(3, 500)
world.do(openTopUp(6))
world.days += 31
for (const command of [openTopUp(6), { type: 'RemoveTopUp' } as const, payPurchase({ purchase: 6 })]) world.do(command)
/** As it is recorded. */
export const topUpHistory = world.appends.flat() as unknown as AuditedEvent[]

type Type = AccountEvent['type']

const all = (type: Type) => topUpHistory.filter(event => event.type === type)
const nth = (type: Type, number = 1) => all(type).at(number - 1) as AuditedEvent
const opened = (number: number) => nth('PurchaseOpened', number)
const changed = (place: AuditedEvent, data: object) =>
  topUpHistory.map(event => (event === place ? { ...event, data: { ...event.data, ...data } } : event))
const without = (...places: AuditedEvent[]) => topUpHistory.filter(event => !places.includes(event))
const followed = (place: AuditedEvent, ...after: AuditedEvent[]) =>
  topUpHistory.flatMap(event => (event === place ? [event, ...after] : [event]))

const due = nth('TopUpDue')
/** Histories with a fault, and what `audit verify` says of it. */
export const forgedTopUps: Record<string, [RegExp, AuditedEvent[]]> = {
  'a top-up that nobody has set': [/has no top-ups/, without(nth('TopUpSet'))],
  'a top-up with enough credits': [/not under 1$/, changed(nth('TopUpSet'), { underMicros: 1 })],
  'a top-up of a suspended account': [
    /is suspended/,
    followed(nth('CreditsDebited'), { ...due, type: 'AccountSuspended', data: {} }),
  ],
  'a top-up of an account that owes credits': [
    /owes 5 /,
    followed(nth('CreditsDebited'), { ...due, type: 'CreditsOwed', data: { owedAfterMicros: 5 } }),
  ],
  'a purchase when none is due': [/no top-up is due/, without(due)],
  'a purchase before it is due': [/no top-up is due/, changed(due, { at: nth('TopUpDue', 4).data['at'] })],
  'two purchases at once': [/another top-up is under way/, followed(opened(2), opened(3))],
  'two top-ups at once': [/another top-up is under way/, followed(opened(2), due)],
  'a payment method of no purchase': [/was not kept/, changed(opened(2), { methodOf: purchaseId(9) })],
  'a payment method that was not kept': [/was not kept/, changed(opened(1), { keepsMethod: undefined })],
  'a payment method before its payment': [/was not kept/, without(nth('PurchasePaid'))],
  'another currency': [/it is in USD/, changed(opened(2), { currency: 'USD' })],
  'a price above the monthly amount': [/exceed 120\.00 EUR/, changed(opened(2), { amount: '120.01' })],
  'payments above the monthly amount': [/exceed 120\.00 EUR/, changed(nth('PurchasePaid', 2), { amount: '70.01' })],
  'a fourth attempt': [
    /3 top-ups in a row have failed/,
    followed(nth('TopUpSettled', 2), nth('TopUpSettled', 2), nth('TopUpSettled', 2)),
  ],
  'an end by failures without them': [/^0 top-ups/, changed(nth('TopUpRemoved'), { reason: 'failures' })],
  'an end of nothing': [/has no top-ups/, followed(nth('TopUpRemoved'), nth('TopUpRemoved'))],
  'an end with a top-up that waits': [/is not settled/, followed(due, nth('TopUpRemoved'))],
  'a settlement of nothing': [/no top-up is due/, followed(nth('TopUpSettled'), nth('TopUpSettled'))],
  'a settlement as paid without a payment': [/is paid, and its purchase is open/, without(nth('PurchasePaid', 2))],
  'a settlement as paid without a purchase': [/is paid, and its purchase is none/, without(opened(2))],
  'a failure whose purchase stays open': [/is failed, and its purchase is open/, without(nth('PurchaseClosed'))],
  'a failure that was paid': [
    /is failed, and its purchase is paid/,
    changed(nth('TopUpSettled'), { outcome: 'failed' }),
  ],
}
