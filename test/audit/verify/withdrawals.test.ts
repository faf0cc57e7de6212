import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { AuditedEvent } from '../../../src/audit/fault.ts'
import { Withdrawals } from '../../../src/audit/verify/withdrawals.ts'
import { DAY_MS } from '../../../src/domain/days.ts'
import { World } from '../../support/account-world.ts'
import { at, THEN_MS } from '../../support/given.ts'
import { declareWithdrawal, openPurchase, payPurchase } from '../../support/purchase-samples.ts'

const { events: history } = new World(openPurchase({ withdrawalDays: 14 }), payPurchase(), declareWithdrawal())

const isDeclaration = ({ type }: AccountEvent) => type === 'WithdrawalDeclared'

/** The faults of events, of which the declaration and what follows it are so many days later. */
const faultsOf = (events: readonly AccountEvent[], days = 0): string[] => {
  const rule = new Withdrawals()
  const faults: string[] = []
  let atMs = THEN_MS
  for (const event of events) {
    if (isDeclaration(event)) atMs = THEN_MS + days * DAY_MS
    rule.take(at(atMs, event) as unknown as AuditedEvent, what => faults.push(what))
  }
  rule.end(what => faults.push(what))
  return faults
}

const changed = (type: AccountEvent['type'], data: object) =>
  history.map(event => (event.type === type ? ({ ...event, data: { ...event.data, ...data } } as AccountEvent) : event))
const without = (type: AccountEvent['type']) => history.filter(event => event.type !== type)
const untilThe = (type: AccountEvent['type']) =>
  history.slice(
    0,
    history.findIndex(event => event.type === type),
  )

t.test('a withdrawal that the account decides has no faults', async t => {
  t.same(faultsOf(history), [])
  t.ok(history.some(isDeclaration))
})

const faults: Record<string, [RegExp, AccountEvent[], number?]> = {
  'a purchase without the consent to begin': [/did not ask/, changed('PurchaseOpened', { beginAtOnce: undefined })],
  'a withdrawal from no purchase': [/was not paid/, without('PurchaseOpened')],
  'a withdrawal before the payment': [/was not paid/, without('PurchasePaid')],
  'a withdrawal without the right to it': [/no right/, changed('PurchaseOpened', { withdrawalDays: undefined })],
  'a withdrawal too late': [/was over/, history, 15.5],
  'a second withdrawal': [/before/, [...history, ...history.filter(isDeclaration)]],
  'a withdrawal without its refund': [/refund .* not follow/, without('RefundRequested')],
  'a refund of nothing': [/contradict/, changed('WithdrawalDeclared', { amount: '0.00' })],
  'a withdrawal without its receipt': [/ends before the receipt/, without('NoticeRaised')],
  'a receipt that something else precedes': [
    /receipt of a withdrawal is missing/,
    [...untilThe('NoticeRaised'), ...history.filter(({ type }) => type === 'PurchaseOpened')],
  ],
  'a receipt of another amount': [/not that of the withdrawal/, changed('WithdrawalDeclared', { amount: '1.00' })],
  'a receipt of nothing': [/of no withdrawal/, without('WithdrawalDeclared')],
}

for (const [name, [what, events, days]] of Object.entries(faults))
  t.test(`${name} is a fault`, async t => {
    const found = faultsOf(events, days)
    t.ok(
      found.some(fault => what.test(fault)),
      String(found),
    )
  })

t.test('the last millisecond is in time', async t => {
  const declaration = (days: number) => faultsOf(history, days).filter(fault => /over/.test(fault))
  t.same(declaration(15.5 - 1 / DAY_MS), [])
})
