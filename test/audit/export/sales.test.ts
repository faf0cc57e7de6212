import t, { type Test } from 'tap'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { DAY_MS } from '../../../src/domain/days.ts'
import {
  accountId,
  completeRun,
  digest,
  grantCredits,
  openAccount,
  queueRun,
  startRun,
} from '../../support/account-samples.ts'
import { needsBookKeepers, readByBeancount, readByHledger } from '../../support/book-keepers.ts'
import { exported } from '../../support/exported.ts'
import { at, THEN_MS } from '../../support/given.ts'
import { openPurchase, payPurchase, recordDispute, recordFee, recordRefund } from '../../support/purchase-samples.ts'

const customer = `Acct-${accountId().slice('acct_'.length)}`

/** Commands, and days that pass between them. */
type Steps = (AccountCommand | number)[]

/** What an account decides, as it stands in a log but without true links. */
const logOf = (steps: Steps): RawEvent[] => {
  let state = account.initial
  let nowMs = THEN_MS
  const decided = steps.flatMap(step => {
    if (typeof step === 'number') {
      nowMs += step * DAY_MS
      return []
    }
    const outcome = account.decide(step, state, nowMs)
    if ('refuse' in outcome) throw new Error(outcome.refuse.code)
    const recorded = outcome.accept.map(event => at(nowMs, event))
    for (const event of recorded) state = account.evolve(state, event)
    return recorded
  })
  return decided.map(({ metadata, ...recorded }, revision) => {
    return {
      ...recorded,
      ...{ stream: `account-${accountId()}`, revision, position: revision, id: crypto.randomUUID() },
      metadata: { ...metadata, actor: { kind: 'service' }, hash: digest('a') },
    } as RawEvent
  })
}

/** The balances in the books after these steps, by both programs. */
const booksOf = async (t: Test, steps: Steps) => {
  const events = logOf(steps)
  const byHledger = (await readByHledger(t, await exported(events, 'hledger'))).balances
  const byBeancount = (await readByBeancount(t, await exported(events, 'beancount'))).balances
  const [one, other] = [byHledger, byBeancount].map(withoutZero)
  t.same(one, other, 'both programs read the same')
  return one
}

const withoutZero = (balances: Record<string, number>) =>
  Object.fromEntries(Object.entries(balances).filter(([, micros]) => micros !== 0))

const used = (credits: number): AccountCommand[] => [queueRun({ credits }), startRun(), completeRun()]

const bought = [openAccount({ welcome: 0 }), openPurchase({ bonus: 50 }), payPurchase({ tax: '7.99' })]

/** The family of the sample runs. */
const USAGE = 'Income:Usage:NanoBanana2'

const paid = {
  'Assets:Payments EUR': 50_000_000,
  'Liabilities:Tax EUR': -7_990_000,
  'Equity:Grants:Purchase EUR': -42_010_000,
  'Equity:Grants:Purchase': 500_000_000,
  'Equity:Grants:Courtesy': 50_000_000,
}

t.test('a payment is money, tax and a liability, which runs turn into income', needsBookKeepers, async t => {
  t.same(await booksOf(t, [...bought, ...used(120)]), {
    ...paid,
    [`Liabilities:Credits:Paid:${customer}:Lot1`]: -430_000_000,
    [USAGE]: -120_000_000,
  })
})

t.test('the fee of a payment is an expense, in the currency that is paid out', needsBookKeepers, async t => {
  t.match(await booksOf(t, [...bought, recordFee()]), {
    ...paid,
    ...{ 'Expenses:Fees USD': 1_050_000, 'Assets:Payments USD': -1_050_000 },
  })
  t.match(await booksOf(t, [...bought, recordFee({ amount: '1.05', currency: 'EUR' })]), {
    ...{ 'Expenses:Fees EUR': 1_050_000, 'Assets:Payments EUR': 48_950_000 },
  })
})

t.test('partial refunds return their share of the money, the tax and the credits', needsBookKeepers, async t => {
  const refunds = ['0.01', '16.66', '33.33'].map((amount, index) => recordRefund({ claim: `re_${index}`, amount }))
  t.same(await booksOf(t, [...bought, ...refunds.slice(0, 2)]), {
    'Assets:Payments EUR': 33_330_000,
    'Liabilities:Tax EUR': -5_330_000,
    'Equity:Grants:Purchase EUR': -28_000_000,
    'Equity:Grants:Purchase': 333_300_000,
    'Equity:Grants:Courtesy': 33_330_000,
    [`Liabilities:Credits:Paid:${customer}:Lot1`]: -333_300_000,
    [`Liabilities:Credits:Free:${customer}:Lot2`]: -33_330_000,
  })
  t.same(await booksOf(t, [...bought, ...refunds]), {}, 'nothing is left')
})

t.test('a disputed payment leaves the income, and a debt for it', needsBookKeepers, async t => {
  const disputed = [...bought, ...used(120), recordDispute()]
  const income = { [USAGE]: -120_000_000, 'Equity:Grants:Courtesy': 50_000_000 }
  t.same(await booksOf(t, disputed), { ...income, [`Assets:Credits:Owed:${customer}`]: 70_000_000 })
  const waived = grantCredits(70, 'waived')
  t.same(await booksOf(t, [...disputed, waived]), { ...income, 'Equity:Grants:Purchase': 70_000_000 }, 'it is paid')
})

t.test('what expired is breakage, and neither refunded nor owed', needsBookKeepers, async t => {
  const expired: Steps = [
    ...[openAccount({ welcome: 0 }), openPurchase({ validDays: 10 }), payPurchase({ tax: '7.99' }), ...used(120)],
    ...[11, { type: 'ExpireCredits', lot: 1 } as const],
  ]
  const income = { [USAGE]: -120_000_000, 'Income:Breakage': -380_000_000 }
  t.match(await booksOf(t, expired), { ...income, 'Equity:Grants:Purchase': 500_000_000 })
  t.same(await booksOf(t, [...expired, recordDispute()]), {
    ...{ ...income, 'Equity:Grants:Purchase': 380_000_000 },
    [`Assets:Credits:Owed:${customer}`]: 120_000_000,
  })
})

t.test('a dispute that is won, and a refund that failed, leave the books as before', needsBookKeepers, async t => {
  const before = await booksOf(t, [...bought, ...used(120)])
  const reversed = [
    recordRefund({ amount: '5.00' }),
    recordDispute({ amount: '45.00', currency: 'USD' }),
    { ...recordRefund({ amount: '5.00' }), hasFailed: true },
    recordDispute({ amount: '45.00', currency: 'USD' }, 'won'),
  ]
  t.same(await booksOf(t, [...bought, ...used(120), ...reversed]), before)
})

t.test('the lot of each amount of money and income can be asked for', async t => {
  const text = await exported(logOf([...bought, ...used(600 - 50)]), 'hledger')
  t.match(text, '; payment_tax: 7.99\n')
  const lots = [`Paid:${customer}:Lot1`, `Free:${customer}:Lot2`]
  for (const posting of text
    .split('\n')
    .filter(line => /^ {4}(Income|Equity|Assets:Payments|Liabilities:Tax)/.test(line)))
    t.ok(
      lots.some(lot => posting.endsWith(`  ; lot: ${lot}`)),
      posting,
    )
  t.match(text, `${USAGE}  -50.000000 CREDIT  ; lot: ${lots[1]}`)
  t.match(text, `${USAGE}  -500.000000 CREDIT  ; lot: ${lots[0]}`)
})
