import t from 'tap'
import type { Notice } from '../../../schemas/notice-events.ts'
import { account } from '../../../src/domain/account/account.ts'
import { withdrawalEnd } from '../../../src/domain/account/withdrawals.ts'
import { DAY_MS } from '../../../src/domain/days.ts'
import { completeRun, failRun, grantCredits } from '../../support/account-samples.ts'
import { World } from '../../support/account-world.ts'
import { THEN_MS } from '../../support/given.ts'
import {
  declareWithdrawal,
  openPurchase,
  payPurchase,
  purchaseId,
  recordRefund,
} from '../../support/purchase-samples.ts'

const bought = [openPurchase({ withdrawalDays: 14, bonus: 50 }), payPurchase()]

const declared = ({ events }: World) =>
  events.flatMap(event => (event.type === 'WithdrawalDeclared' ? [event.data] : []))
const receipts = ({ events }: World) =>
  events.flatMap(event =>
    event.type === 'NoticeRaised' && event.data.notice.kind === 'withdrawal_received' ? [event.data] : [],
  )

t.test('a withdrawal pays back what was not used, takes its credits, and has a receipt', async t => {
  const world = new World(...bought)
  world.run(1, 150)
  world.days = 3
  t.same(world.do(declareWithdrawal()), ['WithdrawalDeclared', 'RefundRequested', 'CreditsWithdrawn', 'NoticeRaised'])
  const refund = { amount: '40.00', currency: 'EUR' }
  t.same(declared(world), [{ purchaseId: purchaseId(), claimId: 'w1', ...refund }])
  t.equal(world.credits, 0, '50 of the bonus and 100 were used')
  t.equal(world.owed, 0)
  const notice: Notice = {
    ...{ kind: 'withdrawal_received', purchaseId: purchaseId(), declaredAt: '2026-01-04T00:00:00.000Z' },
    ...{ paidAt: '2026-01-01T00:00:00.000Z', creditsMicros: 500e6, paid: { amount: '50.00', currency: 'EUR' }, refund },
  } as const
  // The sample account has no notices, and gets the receipt.
  t.same(receipts(world), [{ number: 1, notice, to: { email: true } }])
  t.same(world.do({ type: 'AcceptRefund', purchaseId: purchaseId(), claimId: 'w1', refundId: 're_1' }), [
    'RefundAccepted',
  ])
  // The credits of a run that fails come back: they were paid for.
  t.ok(world.do(failRun(1)).includes('CreditsRefunded'))
  t.equal(world.credits, 150)
})

t.test('only what the payment service can return is paid back', async t => {
  for (const [currency, paid, refund] of [
    ['KWD', '5.000', '3.330'],
    ['MGA', '500.00', '333.00'],
    ['JPY', '500', '333'],
  ] as const) {
    const world = new World(openPurchase({ withdrawalDays: 14, amount: paid, currency }))
    world.do(payPurchase({ amount: paid, currency }))
    world.run(1, 166.3)
    world.do(declareWithdrawal())
    t.match(declared(world), [{ amount: refund, currency }])
    const other = new World(openPurchase({ amount: paid, currency }), payPurchase({ amount: paid, currency }))
    other.run(1, 166.3)
    other.do({ type: 'RequestRefund', purchaseId: purchaseId(), claimId: 'r1', amount: undefined, reason: 'asked' })
    t.match(other.events.find(({ type }) => type === 'RefundRequested')?.data, { amount: refund })
  }
})

t.test('a withdrawal twice is once', async t => {
  const world = new World(...bought)
  world.do(declareWithdrawal())
  t.same(world.do(declareWithdrawal('w2')), [])
  world.days = 100
  t.same(world.do(declareWithdrawal('w3')), [], 'also after the period')
  t.equal(declared(world).length, 1)
})

t.test('the unused bonus goes with the credits', async t => {
  const world = new World(...bought)
  world.run(1, 25)
  const taken = ['CreditsWithdrawn', 'CreditsWithdrawn']
  t.same(world.do(declareWithdrawal()), ['WithdrawalDeclared', 'RefundRequested', ...taken, 'NoticeRaised'])
  t.match(declared(world), [{ amount: '50.00' }])
  t.equal(world.credits, 0)
})

t.test('who has used everything withdraws too, and gets nothing back', async t => {
  const world = new World(...bought)
  world.run(1, 550)
  world.do(completeRun(1))
  t.same(world.do(declareWithdrawal()), ['WithdrawalDeclared', 'NoticeRaised'])
  t.same(declared(world), [{ purchaseId: purchaseId(), amount: '0.00', currency: 'EUR' }])
  t.same(world.do(declareWithdrawal()), [])
})

t.test('what was paid back before is not paid back again, and what has expired is', async t => {
  const refunded = new World(...bought, recordRefund({ amount: '20.00' }))
  refunded.run(1, 130)
  refunded.do(declareWithdrawal())
  t.match(declared(refunded), [{ amount: '20.00' }], '20 of the bonus are gone with the refund: 100 were used')
  const expired = new World(openPurchase({ withdrawalDays: 14, validDays: 5 }), payPurchase())
  expired.run(1, 100)
  expired.days = 5
  expired.do({ type: 'ExpireCredits', lot: 1 })
  t.same(expired.do(declareWithdrawal()), ['WithdrawalDeclared', 'RefundRequested', 'NoticeRaised'])
  t.match(declared(expired), [{ amount: '40.00' }])
})

t.test('a refund of a withdrawal that fails gives the credits back', async t => {
  const world = new World(...bought, declareWithdrawal())
  const failed = { ...recordRefund({ claim: 'w1' }), hasFailed: true }
  t.same(world.do(failed), ['RefundFailed', 'CreditsGranted', 'CreditsGranted'])
  t.equal(world.credits, 550)
})

t.test('there is a time to withdraw, up to its last millisecond', async t => {
  const endDays = (Date.parse('2026-01-16T12:00:00.000Z') - THEN_MS) / DAY_MS
  for (const [days, accepted] of [
    [endDays - 1 / DAY_MS, true],
    [endDays, false],
  ] as const) {
    const world = new World(...bought)
    world.days = days
    const [first] = world.do(declareWithdrawal())
    t.equal(first, accepted ? 'WithdrawalDeclared' : 'withdrawal_too_late')
  }
})

t.test('only a purchase that was paid, with the right to it, can be withdrawn from', async t => {
  const world = new World()
  t.same(world.do(declareWithdrawal()), ['purchase_not_found'])
  world.do(openPurchase({ withdrawalDays: 14 }))
  t.same(world.do(declareWithdrawal()), ['purchase_not_paid'])
  t.same(new World(openPurchase(), payPurchase()).do(declareWithdrawal()), ['withdrawal_not_offered'])
})

t.test('a low balance has its notice before the receipt', async t => {
  const world = new World(...bought, grantCredits(5, 'gift'))
  world.do({ type: 'SetNotices', settings: { email: true, balanceUnderMicros: 10e6 } })
  world.do(declareWithdrawal())
  const raised = world.events.flatMap(({ type, data }) => (type === 'NoticeRaised' ? [data] : []))
  t.match(raised, [
    { number: 1, notice: { kind: 'balance_low', balanceMicros: 5e6 } },
    { number: 2, notice: { kind: 'withdrawal_received' } },
  ])
  t.equal(world.state.noticesRaised, 2)
  t.ok(account.decide(declareWithdrawal(), world.state, THEN_MS))
})

t.test('the period ends when its last day is over everywhere, and on a working day', async t => {
  const ends = (paidAt: string, days = 14) => withdrawalEnd(`${paidAt}:00.000Z`, days)
  // A Thursday; two weeks later is a Thursday too.
  t.equal(ends('2026-11-26T08:00'), '2026-12-11T12:00:00.000Z')
  t.equal(ends('2026-11-26T09:59'), '2026-12-11T12:00:00.000Z')
  // It is Friday on some islands by then.
  t.equal(ends('2026-11-26T10:00'), '2026-12-12T12:00:00.000Z')
  // On Saturdays and Sundays, no period ends.
  for (const day of ['2026-11-28T08:00', '2026-11-29T08:00', '2026-11-30T08:00'])
    t.equal(ends(day), '2026-12-15T12:00:00.000Z', day)
  t.equal(ends('2026-11-26T08:00', 1), '2026-11-28T12:00:00.000Z')
  // Wherever the customer lives, the day of the payment and fourteen more are not over before.
  for (let hour = 0; hour < 14 * 24; hour++)
    for (let zone = -12; zone <= 14; zone++) {
      const paidMs = THEN_MS + hour * 3_600_000
      const localDay = Math.floor((paidMs + zone * 3_600_000) / DAY_MS)
      const lawful = (localDay + 15) * DAY_MS - zone * 3_600_000
      const end = Date.parse(withdrawalEnd(new Date(paidMs).toISOString(), 14))
      if (end < lawful || end > lawful + 5 * DAY_MS) return t.fail(`${hour} ${zone}`)
    }
})
