import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { AuditedEvent } from '../../../src/audit/fault.ts'
import { Purchases } from '../../../src/audit/verify/purchases.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { completeRun, grantCredits, openAccount, queueRun, startRun } from '../../support/account-samples.ts'
import { at, THEN_MS } from '../../support/given.ts'
import { openPurchase, payPurchase, recordDispute, recordFee, recordRefund } from '../../support/purchase-samples.ts'

const historyOf = (...commands: AccountCommand[]): AccountEvent[] => {
  let state = account.initial
  return commands.flatMap(command => {
    const decided = account.decide(command, state, THEN_MS)
    if ('refuse' in decided) throw new Error(decided.refuse.code)
    for (const event of decided.accept) state = account.evolve(state, at(THEN_MS, event))
    return decided.accept
  })
}

const faultsOf = (events: readonly AccountEvent[]): string[] => {
  const rule = new Purchases()
  const faults: string[] = []
  for (const event of events) rule.take(at(THEN_MS, event) as unknown as AuditedEvent, what => faults.push(what))
  rule.end(what => faults.push(what))
  return faults
}

const history = historyOf(
  ...[openAccount({ welcome: 0 }), openPurchase({ bonus: 50 }), payPurchase(), recordFee()],
  ...[queueRun({ credits: 400 }), startRun(), completeRun()],
  recordRefund({ amount: '5.00' }),
  recordDispute({ amount: '45.00' }),
  grantCredits(30, 'gift'),
  { ...recordRefund({ amount: '5.00' }), hasFailed: true },
  recordDispute({ amount: '45.00' }, 'won'),
)

t.test('a history that the account decides has no faults', async t => {
  t.same(faultsOf(history), [])
  t.ok(history.some(({ type }) => type === 'CreditsOwed') && history.some(({ type }) => type === 'CreditsSettled'))
})

/** A refund fails because of a dispute. */
const passedOn = historyOf(
  ...[openAccount({ welcome: 0 }), openPurchase(), payPurchase(), recordRefund({ amount: '45.00' }), recordDispute()],
  { ...recordRefund({ amount: '45.00' }), hasFailed: true },
)

t.test('what a refund that fails leaves to a dispute is no fault', async t => {
  t.same(faultsOf(passedOn), [])
  t.ok(passedOn.some(({ data }) => 'claimId' in data && data.claimId === 're_1 passed on'))
})

const first = (type: AccountEvent['type']) => history.find(event => event.type === type) as AccountEvent
const changed = (type: AccountEvent['type'], data: object) =>
  history.map(event =>
    event === first(type) ? ({ ...event, data: { ...event.data, ...data } } as AccountEvent) : event,
  )
const without = (type: AccountEvent['type']) => history.filter(event => event !== first(type))
const twice = (type: AccountEvent['type']) =>
  history.flatMap(event => (event === first(type) ? [event, event] : [event]))

const faults: Record<string, [RegExp, AccountEvent[]]> = {
  'a payment without its credits': [/not the CreditsGranted of 500000000/, without('CreditsGranted')],
  'a payment with other credits': [/not the CreditsGranted/, changed('CreditsGranted', { amountMicros: 1 })],
  'a payment with another reference': [/not the CreditsGranted/, changed('CreditsGranted', { reference: 'x' })],
  'a payment of no purchase': [/was not opened/, without('PurchaseOpened')],
  'a fee of no payment': [/was not paid/, without('PurchasePaid')],
  'a second fee': [/the fee of .* was charged before/, twice('FeeCharged')],
  'a second payment': [/was paid before/, twice('PurchasePaid')],
  'a refund that takes too little': [/takes 1, not 50000000/, changed('PaymentRefunded', { creditsMicros: 1 })],
  'a refund without its withdrawal': [/not the CreditsWithdrawn/, without('CreditsWithdrawn')],
  'a withdrawal from another lot': [/not the CreditsWithdrawn/, changed('CreditsWithdrawn', { lot: 2 })],
  'a refund twice': [/was recorded before/, twice('PaymentRefunded')],
  'a dispute that owes more than it could not take': [/owes more/, changed('PaymentDisputed', { owedMicros: 9e9 })],
  'a debt that is forgotten': [/not the CreditsOwed/, without('CreditsOwed')],
  'a debt that does not add up': [/are owed after it/, changed('CreditsOwed', { owedAfterMicros: 1 })],
  'a failed refund that returns nothing': [
    /not the CreditsGranted/,
    history.filter(({ data }) => !('reference' in data && data.reference === 're_1 returned')),
  ],
  'a dispute that is won twice': [/was reversed before/, twice('DisputeWon')],
  'a run of an account that owes credits': [
    /the account owes/,
    history.flatMap(event => (event.type === 'CreditsOwed' ? [event, first('CreditsDebited')] : [event])),
  ],
  'a refund that fails and leaves nothing to a dispute': [
    /have taken 50000000 in the end, not 500000000/,
    passedOn.slice(
      0,
      passedOn.findLastIndex(({ type }) => type === 'PaymentDisputed'),
    ),
  ],
  'an end before the credits of a payment': [
    /ends before CreditsGranted/,
    history.slice(0, history.indexOf(first('PurchasePaid')) + 1),
  ],
}

for (const [name, [what, events]] of Object.entries(faults))
  t.test(`${name} is a fault`, async t => {
    t.ok(
      faultsOf(events).some(fault => what.test(fault)),
      String(faultsOf(events)),
    )
  })
