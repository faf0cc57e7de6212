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

t.test('the end of a run is told with the attempts that failed', async t => {
  const attempts = [
    { provider: 'fal', failedAt: '2026-11-27T12:00:00.000Z', reason: 'rate_limited', status: 429 },
    { provider: 'google', failedAt: '2026-11-27T12:00:01.000Z', reason: 'provider_error' },
    { provider: 'replicate' },
  ]
  const tell = (type: string, data: object) => {
    const event: object = { type, data: { runId: 'run_1', attempts, ...data } }
    return describeEvent(event as AccountRecord, new KeyRing())
  }
  const tried = '; fal: rate_limited, 429; google: provider_error'
  const upstream = { provider: 'replicate' }
  t.equal(tell('RunSubmitted', { jobId: 'j', upstream }), `run_1 submitted to replicate as job j${tried}`)
  t.equal(tell('RunCompleted', { output: { artifacts: [], text: 'Hi.' }, upstream }), `run_1 completed: text${tried}`)
  const error = { code: 'cancelled', message: 'The run was cancelled.' }
  t.equal(tell('RunFailed', { error, upstream }), `run_1 failed as cancelled: The run was cancelled.${tried}`)
})

t.test('numbers of things are told with the noun in its form', async t => {
  t.same([count(0, 'event'), count(1, 'event'), count(1234, 'event')], ['0 events', '1 event', '1,234 events'])
})
