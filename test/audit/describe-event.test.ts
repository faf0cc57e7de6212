import t from 'tap'
import { KeyRing } from '../../src/audit/account/key-ring.ts'
import { count } from '../../src/audit/decimal.ts'
import { describeEvent } from '../../src/audit/describe-event.ts'
import type { AccountRecord } from '../../src/audit/read-log.ts'

const grant = { amountMicros: 1, balanceAfterMicros: 1, kind: 'purchase', reference: 'order-3', reason: 'by card' }
const told = (data: object) => describeEvent({ type: 'CreditsGranted', data } as AccountRecord, new KeyRing())

t.test('a purchase is told with what was paid, and its invoice if that is not the reference', async t => {
  const payment = { amount: '25.00', currency: 'EUR', invoice: 'order-3' }
  t.equal(told(grant), 'purchase granted: by card (order-3)')
  t.equal(told({ ...grant, payment }), 'purchase granted: by card (order-3), 25.00 EUR paid')
  t.equal(
    told({ ...grant, payment: { ...payment, invoice: 'R 17' } }),
    'purchase granted: by card (order-3), 25.00 EUR paid, invoice R 17',
  )
})

t.test('numbers of things are told with the noun in its form', async t => {
  t.same([count(0, 'event'), count(1, 'event'), count(1234, 'event')], ['0 events', '1 event', '1,234 events'])
})
