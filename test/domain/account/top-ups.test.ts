import t from 'tap'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { grantCredits } from '../../support/account-samples.ts'
import { World } from '../../support/account-world.ts'
import { openPurchase, payPurchase, purchaseId, recordDispute, recordRefund } from '../../support/purchase-samples.ts'

const setTopUp = ({ under = 100, credits = 500, monthlyAmount = '120.00' } = {}): AccountCommand => ({
  type: 'SetTopUp',
  settings: { underMicros: toMicros(under), creditsMicros: toMicros(credits), monthlyAmount, currency: 'EUR' },
})

const openTopUp = (
  number: number,
  sample: { credits?: number; amount?: string; currency?: string } = {},
): AccountCommand => ({
  ...openPurchase({ purchase: number, ...sample }),
  type: 'OpenTopUp',
})

const fail = (number?: number, code = 'insufficient_funds'): AccountCommand => ({
  type: 'FailTopUp',
  code,
  purchaseId: number === undefined ? undefined : purchaseId(number),
})

const resume: AccountCommand = { type: 'ResumeAccount', reason: 'paid' }

/** An account with 500 credits and a kept payment method. */
const kept = () => new World(openPurchase({ keepsMethod: true }), payPurchase())

/** An account with top-ups and 50 credits, of which one is due. */
const low = () => {
  const world = kept()
  world.do(setTopUp())
  world.run(1, 450)
  return world
}

t.test('top-ups need a payment method that was kept, of a purchase that was paid', t => {
  t.same(new World().do(setTopUp()), ['no_kept_method'])
  t.same(new World(openPurchase({ keepsMethod: true })).do(setTopUp()), ['no_kept_method'])
  t.same(new World(openPurchase(), payPurchase()).do(setTopUp()), ['no_kept_method'])
  const world = kept()
  t.same(world.do(setTopUp()), ['TopUpSet'])
  t.same(world.do(setTopUp()), [])
  t.end()
})

t.test('the run that leaves too few credits makes one top-up due, and no other run does', t => {
  const world = kept()
  world.do(setTopUp())
  t.notOk(world.run(1, 400).includes('TopUpDue'), 'the limit itself is enough')
  t.ok(world.run(2, 1).includes('TopUpDue'))
  for (const run of [3, 4, 5]) t.notOk(world.run(run, 1).includes('TopUpDue'))
  t.same(world.do(openTopUp(2)), ['PurchaseOpened'])
  t.same(world.do(openTopUp(3)), ['top_up_not_due'])
  t.notOk(world.run(6, 1).includes('TopUpDue'))
  t.same(world.do(payPurchase({ purchase: 2 })), ['PurchasePaid', 'CreditsGranted', 'TopUpSettled'])
  t.same(world.do(payPurchase({ purchase: 2 })), [])
  t.same(world.do(openTopUp(3)), ['top_up_not_due'])
  t.end()
})

t.test('a top-up that is not enough is followed by another one', t => {
  const world = kept()
  t.same(world.do(setTopUp({ under: 600, credits: 50 })), ['TopUpSet', 'TopUpDue'], 'the balance is too low already')
  world.do(openTopUp(2, { credits: 50 }))
  t.same(world.do(payPurchase({ purchase: 2 })), ['PurchasePaid', 'CreditsGranted', 'TopUpSettled', 'TopUpDue'])
  t.end()
})

t.test('with other settings, an attempt that waits begins anew, and one under way goes on', t => {
  const world = low()
  t.same(world.do(setTopUp({ under: 200 })), ['TopUpSettled', 'TopUpSet', 'TopUpDue'])
  t.same(world.do(setTopUp({ under: 10 })), ['TopUpSettled', 'TopUpSet'])
  t.same(world.do(openTopUp(2)), ['top_up_not_due'])
  world.do(setTopUp())
  world.do(openTopUp(2))
  t.same(world.do(setTopUp({ under: 200 })), ['TopUpSet'])
  t.ok(world.do(payPurchase({ purchase: 2 })).includes('TopUpSettled'))
  t.end()
})

t.test('three failures in a row turn top-ups off and tell the owner', t => {
  const world = low()
  world.do(openTopUp(2))
  t.same(world.do(fail(2)), ['PurchaseClosed', 'TopUpSettled', 'TopUpDue'])
  t.same(world.do(fail(2)), [], 'the same failure is reported twice')
  t.same(world.do(openTopUp(3)), ['top_up_not_due'], 'an hour must pass')
  t.notOk(world.run(2, 1).includes('TopUpDue'))
  world.days += 1 / 24
  world.do(openTopUp(3))
  t.same(world.do(fail(3)), ['PurchaseClosed', 'TopUpSettled', 'TopUpDue'])
  world.days += 1 / 24
  t.same(world.do(openTopUp(4)), ['top_up_not_due'], 'a day must pass')
  world.days += 1
  t.same(world.do(fail()), ['TopUpSettled', 'TopUpRemoved', 'NoticeRaised'], 'also without a purchase')
  t.match(world.events.at(-1)?.data, { notice: { kind: 'top_up_stopped', code: 'insufficient_funds' } })
  t.notOk(world.run(3, 1).includes('TopUpDue'))
  t.end()
})

t.test('a payment ends the count of failures', t => {
  const world = low()
  world.do(openTopUp(2))
  world.do(fail(2))
  world.days += 1
  world.do(openTopUp(3))
  world.do(payPurchase({ purchase: 3 }))
  t.equal(world.state.topUp?.failures, 0)
  t.end()
})

t.test('the monthly amount is never exceeded, and the next month goes on', t => {
  const world = low()
  world.do(openTopUp(2))
  world.do(payPurchase({ purchase: 2 }))
  world.run(2, 500)
  world.do(openTopUp(3))
  world.do(payPurchase({ purchase: 3 }))
  world.run(3, 500)
  t.same(world.do(openTopUp(4)), ['TopUpDue'], '100 EUR of 120 EUR are paid')
  t.match(world.events.at(-1)?.data, { at: /-01T00:00:00.000Z$/ })
  t.same(world.do(openTopUp(4)), ['top_up_not_due'])
  world.days += 31
  t.same(world.do(openTopUp(4)), ['PurchaseOpened'])
  t.end()
})

t.test('a top-up that was given up under way counts in its month, since its payment may arrive', t => {
  const world = low()
  world.do(openTopUp(2))
  world.do({ type: 'RemoveTopUp' })
  t.same(world.do(setTopUp({ monthlyAmount: '99.99' })), ['TopUpSet', 'TopUpDue'])
  t.same(world.do(openTopUp(3)), ['TopUpDue'], '50 EUR may be paid')
  world.do(setTopUp({ monthlyAmount: '100.00' }))
  t.same(world.do(openTopUp(3)), ['PurchaseOpened'])
  world.do(payPurchase({ purchase: 2 }))
  world.do(payPurchase({ purchase: 3 }))
  world.run(2, 1000)
  t.same(world.do(openTopUp(4)), ['TopUpDue'], '100 EUR are paid')
  world.days += 31
  t.same(world.do(openTopUp(4)), ['PurchaseOpened'])
  t.end()
})

t.test('another currency or a higher price is a failure', t => {
  const world = low()
  t.same(world.do(openTopUp(2, { currency: 'USD' })), ['TopUpSettled', 'TopUpDue'])
  t.match(world.events.at(-2)?.data, { outcome: 'failed', code: 'currency_changed' })
  world.days += 1
  t.same(world.do(openTopUp(2, { amount: '120.01' })), ['TopUpSettled', 'TopUpDue'])
  t.match(world.events.at(-2)?.data, { code: 'above_monthly_amount' })
  t.end()
})

t.test('nothing is bought for who has enough by now, may not run, or owes credits', t => {
  const world = low()
  world.do(grantCredits(500, 'gift'))
  t.same(world.do(openTopUp(2)), ['TopUpSettled'])
  t.match(world.events.at(-1)?.data, { outcome: 'unneeded' })
  world.run(2, 500)
  world.do({ type: 'SuspendAccount', reason: 'abuse' })
  t.same(world.do(openTopUp(2)), ['TopUpSettled'])
  t.same(world.do(resume), ['AccountResumed', 'TopUpDue'])
  world.do(recordDispute())
  t.ok(world.owed > 0)
  t.same(world.do(openTopUp(2)), ['TopUpSettled'])
  t.end()
})

t.test('a refund or a withdrawal tops nothing up', t => {
  const world = kept()
  world.do(setTopUp())
  t.notOk(world.do(recordRefund()).includes('TopUpDue'))
  t.equal(world.credits, 0)
  t.end()
})

t.test('top-ups are turned off, also while one is under way, whose payment still counts', t => {
  const world = low()
  t.same(world.do({ type: 'RemoveTopUp' }), ['TopUpSettled', 'TopUpRemoved'])
  t.same(world.do({ type: 'RemoveTopUp' }), ['top_up_not_found'])
  const other = low()
  other.do(openTopUp(2))
  t.same(other.do({ type: 'RemoveTopUp' }), ['PurchaseClosed', 'TopUpSettled', 'TopUpRemoved'])
  t.same(other.do(payPurchase({ purchase: 2 })), ['PurchasePaid', 'CreditsGranted'])
  t.same(other.do(fail(2)), [])
  t.end()
})
