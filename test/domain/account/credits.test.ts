import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { MAX_GRANT_MICROS, MAX_REFERENCES } from '../../../schemas/primitives.ts'
import { account } from '../../../src/domain/account/account.ts'
import { Contradiction } from '../../../src/domain/decider.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import {
  accepted,
  completed,
  debited,
  debitFacts,
  failed,
  failRun,
  grantCredits,
  granted,
  keyId,
  opened,
  refunded,
  runId,
  started,
  withdrawCredits,
  withdrawn,
} from '../../support/account-samples.ts'
import { at, given, THEN_MS } from '../../support/given.ts'

/** A balance within one maximum grant of the largest safe integer. */
const NEAR_LIMIT_CREDITS = 9 * fromMicros(MAX_GRANT_MICROS)
const ROOM_MICROS = Number.MAX_SAFE_INTEGER - toMicros(NEAR_LIMIT_CREDITS)

const grantMicros = (amountMicros: number) => ({ ...grantCredits(1, 'last'), amountMicros })

const grantedMicros = (amountMicros: number, balanceAfterMicros: number) => {
  const { type, data } = granted(1, { reference: 'last', lot: 2 }) as Extract<AccountEvent, { type: 'CreditsGranted' }>
  return { type, data: { ...data, amountMicros, balanceAfterMicros } }
}

t.test('a grant adds to the balance and records the new balance', async () => {
  given(account, opened(), granted(100))
    .when(grantCredits(0.5, 'invoice 17'))
    .then(granted(0.5, { after: 100.5, reference: 'invoice 17', lot: 2 }))
})

t.test('a grant may fill the balance up to the largest safe integer, and not beyond', async () => {
  const rich = given(account, opened(), granted(NEAR_LIMIT_CREDITS))
  rich.when(grantMicros(ROOM_MICROS + 1)).refused('balance_too_high', { balanceMicros: toMicros(NEAR_LIMIT_CREDITS) })
  rich.when(grantMicros(ROOM_MICROS)).then(grantedMicros(ROOM_MICROS, Number.MAX_SAFE_INTEGER))
})

t.test('a grant leaves room for refunds of all open runs', async () => {
  const spent = given(
    account,
    opened(),
    granted(NEAR_LIMIT_CREDITS),
    ...accepted({ credits: 10, after: NEAR_LIMIT_CREDITS - 10 }),
  )
  const balanceMicros = toMicros(NEAR_LIMIT_CREDITS - 10)
  spent.when(grantMicros(ROOM_MICROS + 1)).refused('balance_too_high', { balanceMicros })
  spent.when(grantMicros(ROOM_MICROS)).then(grantedMicros(ROOM_MICROS, balanceMicros + ROOM_MICROS))
})

t.test('a failed run refunds its price even if the balance has changed since', async () => {
  given(account, opened(), granted(20), ...accepted({ credits: 15, after: 5 }), started(), granted(100, { after: 105 }))
    .when(failRun(1, 'provider_timeout'))
    .then(failed(1, 'provider_timeout'), refunded(15, { after: 120, code: 'provider_timeout' }))
})

t.test('a reference moves credits once; reusing it with another amount is refused', async () => {
  const invoiced = given(account, opened(), granted(100, { reference: 'invoice 17' }))
  invoiced.when(grantCredits(100, 'invoice 17')).repeats('invoice 17')
  const amountMicros = toMicros(100)
  invoiced.when(grantCredits(99, 'invoice 17')).refused('reference_mismatch', { amountMicros })
  invoiced.when(withdrawCredits(100, 'invoice 17')).refused('reference_mismatch', { amountMicros })
  invoiced.when(grantCredits(1, 'invoice 18')).then(granted(1, { after: 101, reference: 'invoice 18', lot: 2 }))
})

t.test('a withdrawal takes credits once per reference and never exceeds the balance', async () => {
  const rich = given(account, opened(), granted(100))
  rich.when(withdrawCredits(40, 'mistake')).then(withdrawn(40, { after: 60, reference: 'mistake' }))
  const insufficient = { requiredMicros: toMicros(100.5), balanceMicros: toMicros(100) }
  rich.when(withdrawCredits(100.5, 'mistake')).refused('insufficient_credits', insufficient)
  const poorer = given(account, opened(), granted(100), withdrawn(40, { after: 60, reference: 'mistake' }))
  poorer.when(withdrawCredits(40, 'mistake')).repeats('mistake')
  poorer.when(grantCredits(40, 'mistake')).refused('reference_mismatch', { amountMicros: -toMicros(40) })
})

t.test('an account has at most 10,000 references', async () => {
  const grants = Array.from({ length: MAX_REFERENCES }, (_, index) =>
    granted(1, { after: index + 1, reference: String(index) }),
  )
  const full = given(account, opened(), ...grants)
  full.when(grantCredits(1, 'one more')).refused('too_many_references', { limit: MAX_REFERENCES })
  full.when(withdrawCredits(1, 'one more')).refused('too_many_references', { limit: MAX_REFERENCES })
  full.when(grantCredits(1, '7')).repeats('7')
})

const refundRun = (credits: number, { charged = 10, before = 0, refunds = 0 } = {}) =>
  ({
    type: 'RefundRun',
    runId: runId(),
    amountMicros: toMicros(credits),
    chargedMicros: toMicros(charged),
    refundedMicros: toMicros(before),
    uses: [{ lot: 1, amountMicros: toMicros(charged - before) }],
    debit: debitFacts,
    refunds,
    reason: 'the picture was black',
  }) as const

t.test('partial refunds of a completed run never exceed its price in total', async () => {
  const history = [opened(), granted(20), ...accepted({ credits: 10, after: 10 }), started(), completed()]
  const reason = 'the picture was black'
  const done = given(account, ...history)
  done.when(refundRun(4)).then(refunded(4, { after: 14, reason, lots: [[1, 4]] }))
  done.when(refundRun(10)).then(refunded(10, { after: 20, reason, lots: [[1, 10]] }))
  done.when(refundRun(10.5)).refused('refund_too_high', { refundableMicros: toMicros(10) })
  const refundedOnce = given(account, ...history, refunded(4, { after: 14, reason, lots: [[1, 4]] }))
  refundedOnce.when(refundRun(6)).refused('refunds_changed')
  refundedOnce
    .when(refundRun(7, { before: 4, refunds: 1 }))
    .refused('refund_too_high', { refundableMicros: toMicros(6) })
  refundedOnce.when(refundRun(6, { before: 4, refunds: 1 })).then(refunded(6, { after: 20, reason, lots: [[1, 6]] }))
})

t.test('a refund repeats the model, key and label of its debit, whoever causes it', async () => {
  type CreditsDebited = Extract<AccountEvent, { type: 'CreditsDebited' }>
  const [debit, queued] = accepted({ credits: 10, after: 10 }) as [CreditsDebited, AccountEvent]
  const labelled = { ...debit, data: { ...debit.data, label: 'spring campaign' } }
  const past = at(THEN_MS, labelled)
  const byKey = { ...past, metadata: { ...past.metadata, actor: { kind: 'key', keyId: keyId(7) } } }
  const facts = { ...debitFacts, keyId: keyId(7), label: 'spring campaign' }
  given(account, opened(), granted(20), byKey, queued, started())
    .when(failRun(1, 'provider_timeout'))
    .then(failed(1, 'provider_timeout'), refunded(10, { after: 20, code: 'provider_timeout', debit: facts }))
})

t.test('an open run cannot be refunded by hand because it may still fail', async () => {
  given(account, opened(), granted(20), ...accepted({ credits: 10, after: 10 }), started())
    .when(refundRun(1))
    .refused('run_not_ended')
})

t.test('an event whose balance does not match its amount is a contradiction', async t => {
  const wrong = [
    granted(1, { after: 100 }),
    withdrawn(1, { after: 21 }),
    debited(1, { after: 20 }),
    refunded(1, { after: 20 }),
  ]
  for (const event of wrong) t.throws(() => given(account, opened(), granted(20), event), Contradiction, event.type)
})
