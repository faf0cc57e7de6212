import t from 'tap'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { completeRun, grantCredits } from '../../support/account-samples.ts'
import { World } from '../../support/account-world.ts'
import {
  failTopUp as fail,
  openPurchase,
  openTopUp,
  payPurchase,
  purchaseId,
  recordDispute,
  recordRefund,
  setTopUp,
} from '../../support/purchase-samples.ts'

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

t.test('payments that a clock has recorded too late count in the month before', t => {
  const world = low()
  world.days = 31
  world.do(openTopUp(2, { amount: '100.00' }))
  world.do(payPurchase({ purchase: 2, amount: '100.00' }))
  world.days = 0
  world.run(2, 500)
  t.same(world.do(openTopUp(3)), ['TopUpDue'])
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

const remove: AccountCommand = { type: 'RemoveTopUp' }

const end = (number = 2): AccountCommand => ({ type: 'EndTopUp', purchaseId: purchaseId(number) })

const MINUTE_DAYS = 1 / 24 / 60

/** An account whose top-ups were removed while one is under way. */
const removed = () => {
  const world = low()
  world.do(openTopUp(2))
  t.same(world.do(remove), ['TopUpRemoved'])
  return world
}

t.test('top-ups are turned off, with what waits', t => {
  const world = low()
  t.same(world.do(remove), ['TopUpSettled', 'TopUpRemoved'])
  t.same(world.do(remove), ['top_up_not_found'])
  t.equal(world.state.topUp, undefined)
  t.end()
})

t.test('what is under way when top-ups are turned off is settled, and nothing follows', t => {
  const paid = removed()
  t.same(paid.do(remove), ['top_up_not_found'])
  t.notOk(paid.run(2, 1).includes('TopUpDue'))
  t.same(paid.do(payPurchase({ purchase: 2 })), ['PurchasePaid', 'CreditsGranted', 'TopUpSettled'])
  t.notOk(paid.run(3, 540).includes('TopUpDue'))
  const failed = removed()
  t.same(failed.do(fail(2)), ['PurchaseClosed', 'TopUpSettled'])
  for (const world of [paid, failed]) t.equal(world.state.topUp, undefined)
  t.end()
})

t.test('without a charge it ends once none can be under way', t => {
  const world = removed()
  world.days = 29 * MINUTE_DAYS
  t.same(world.do(end()), [])
  world.days = 30 * MINUTE_DAYS
  t.same(world.do(end(1)), [])
  t.same(world.do(end()), ['PurchaseClosed', 'TopUpSettled'])
  t.match(world.events.slice(-2), [{ data: { reason: 'expired' } }, { data: { outcome: 'unneeded' } }])
  t.equal(world.state.topUp, undefined)
  t.same(world.do(end()), [])
  t.end()
})

t.test('top-ups that are turned on again go on with it', t => {
  const world = removed()
  world.days = 1
  t.same(world.do(setTopUp()), ['TopUpSet'], 'the same settings are new')
  t.same(world.do(end()), [])
  t.same(world.do(payPurchase({ purchase: 2 })), ['PurchasePaid', 'CreditsGranted', 'TopUpSettled'])
  t.same(world.state.topUp?.failures, 0)
  t.end()
})

t.test('a suspended account is charged nothing more, and goes on when it is resumed', t => {
  const world = low()
  world.do(openTopUp(2))
  t.same(world.do(end()), [])
  world.do({ type: 'SuspendAccount', reason: 'abuse' })
  world.days = 30 * MINUTE_DAYS
  t.same(world.do(end()), ['PurchaseClosed', 'TopUpSettled'])
  t.same(world.do(resume), ['AccountResumed', 'TopUpDue'])
  t.end()
})

t.test('what is under way when the account is erased is settled', t => {
  const erase: AccountCommand = { type: 'EraseAccount', reason: 'asked' }
  for (const [command, outcome] of [
    [payPurchase({ purchase: 2 }), 'paid'],
    [fail(2), 'failed'],
    [end(), 'unneeded'],
  ] as const) {
    const world = low()
    world.do(completeRun())
    world.do(openTopUp(2))
    t.ok(world.do(erase).includes('TopUpRemoved'))
    world.days = 1
    t.ok(world.do(command).includes('TopUpSettled'), outcome)
    t.match(world.events.at(-1)?.data, { outcome })
    t.equal(world.state.topUp, undefined)
  }
  t.end()
})
