import fc from 'fast-check'
import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { PriceRule, Receipt, TokenUsage } from '../../../schemas/catalog.ts'
import { account } from '../../../src/domain/account/account.ts'
import { budgetAt } from '../../../src/domain/account/budgets.ts'
import { priceOf, settle } from '../../../src/domain/catalog/pricing.ts'
import { toMicros } from '../../../src/domain/money.ts'
import {
  accepted,
  completed,
  completeRun,
  failed,
  failRun,
  granted,
  keyId,
  keyWithBudget,
  opened,
  queueRun,
  refunded,
  runId,
  started,
} from '../../support/account-samples.ts'
import { by, given } from '../../support/given.ts'

const CENT = 10_000

/** Credits for a million tokens: 100 of input, 10 of cached input, 1,000 of output, and 2,000 of thoughts. */
const rule: PriceRule = {
  ...{ baseMicros: 0, quantities: [], multipliers: {}, surcharges: [] },
  tokens: { input: 100e6, cached_input: 10e6, output: 1_000e6, thinking: 2_000e6 },
}

const used = (input: number, output: number, more: Partial<TokenUsage> = {}): TokenUsage => ({
  ...{ input, cached_input: 0, output, thinking: 0 },
  ...more,
})

const receiptFor = (usage: TokenUsage): Receipt => ({
  ...{ catalogRevision: 0, model: 'gpt-6-1-terra', endpoint: 'gpt-6-1-terra-t2t' },
  ...priceOf(rule, {}, CENT, usage),
})

/** At most 1,000 tokens of input and 1,000 of output: 1.1 credits. */
const reserved = receiptFor(used(1000, 1000))

const metered = accepted({ credits: 1.1, after: 98.9 }).map(event =>
  event.type === 'CreditsDebited' ? { ...event, data: { ...event.data, receipt: reserved } } : event,
) as AccountEvent[]

const debit = { model: 'gpt-6-1-terra', endpoint: 'gpt-6-1-terra-t2t' }

const released = (credits: number, after: number, receipt: Receipt, facts: object = debit): AccountEvent => ({
  type: 'CreditsReleased',
  data: {
    runId: runId(),
    amountMicros: toMicros(credits),
    balanceAfterMicros: toMicros(after),
    receipt,
    debit: facts as typeof debit,
  },
})

const withUsage = (event: AccountEvent, usage: TokenUsage) =>
  ({ ...event, data: { ...event.data, usage } }) as AccountEvent

const working = given(account, opened(), granted(100), ...metered, started())
const complete = (usage: TokenUsage) => ({ ...completeRun(), usage })

t.test('what the tokens of a run did not cost is released when it completes', async () => {
  const usage = used(200, 300)
  working.when(complete(usage)).then(released(0.78, 99.68, receiptFor(usage)), withUsage(completed(), usage))
})

t.test('cached input and thoughts have prices of their own', async () => {
  const usage = used(100, 50, { cached_input: 500, thinking: 100 })
  // 0.01 + 0.005 + 0.05 + 0.2
  working.when(complete(usage)).then(released(0.835, 99.735, receiptFor(usage)), withUsage(completed(), usage))
})

t.test('a receipt says that the service counted the tokens', async () => {
  const usage = used(200, 300, { counted: true })
  working
    .when(complete(usage))
    .then(released(0.78, 99.68, { ...receiptFor(used(200, 300)), counted: true }), withUsage(completed(), usage))
})

t.test('nothing is released of a run that needed everything, or whose provider reports more', async () => {
  for (const usage of [used(1000, 1000), used(1, 2000), used(1_000_000_000, 1_000_000_000)])
    working.when(complete(usage)).then(withUsage(completed(), usage))
})

t.test('a failed run is refunded in full, and releases nothing', async () => {
  const refund = refunded(1.1, { after: 100, code: 'provider_error' })
  working
    .when(failRun(1, 'provider_error'))
    .then(failed(1, 'provider_error'), { ...refund, data: { ...refund.data, debit } } as AccountEvent)
})

t.test('a price without tokens is not settled', async () => {
  const usage = used(10, 10)
  given(account, opened(), granted(100), ...accepted({ after: 90 }), started())
    .when(complete(usage))
    .then(withUsage(completed(), usage))
})

t.test('a release gives back to the budget of the key, and makes room for the next run', async () => {
  const atMs = Date.parse('2026-11-25T10:00:00.000Z')
  const asked = metered.map(event => by(keyId(), atMs, event))
  const usage = used(200, 300)
  const facts = { ...debit, keyId: keyId(), budgetPeriod: '2026-11-25' }
  const before = given(account, opened(), granted(100), keyWithBudget(2), ...asked, started())
  before.when(queueRun({ run: 2, credits: 1, askedWith: 1 }), atMs).refused('budget_exceeded', {
    of: 'key',
    ...{ requiredMicros: toMicros(1), period: 'day', budgetMicros: toMicros(2), spentMicros: toMicros(1.1) },
    renewsAt: '2026-11-26T00:00:00.000Z',
  })
  const release = released(0.78, 99.68, receiptFor(usage), facts)
  before.when(complete(usage), atMs).then(release, withUsage(completed(), usage))
  const after = given(account, opened(), granted(100), keyWithBudget(2), ...asked, started(), release, completed())
  t.equal(budgetAt(after.state.activeKeys.get(keyId()) ?? {}, atMs)?.spentMicros, toMicros(0.32))
  t.equal(after.state.balanceMicros, toMicros(99.68))
})

t.test('no release makes a run cost more than was reserved, or other than its tokens', async t => {
  const count = fc.integer({ min: 0, max: 3_000 })
  const usages = fc.record({ input: count, cached_input: count, output: count, thinking: count })
  fc.assert(
    fc.property(usages, usages, (most, usage) => {
      const { totalMicros } = receiptFor(most)
      const settled = settle(receiptFor(most), usage)
      const { input, cached_input, output, thinking } = usage
      const exact = input * 100 + cached_input * 10 + output * 1000 + thinking * 2000
      return settled.totalMicros === Math.min(totalMicros, exact)
    }),
  )
  t.pass()
})

t.test('tokens are rounded up once, together with the base', async t => {
  const fine = { ...rule, baseMicros: 1, multipliers: { half: { on: 500_000 } } }
  const tokens = { input: 100_000, cached_input: 1, output: 200_000, thinking: 1 }
  const total = (usage: TokenUsage) => priceOf({ ...fine, tokens }, { half: 'on' }, CENT, usage).totalMicros
  // Half a microcredit, and a tenth or two for each token.
  t.equal(total(used(1, 2)), 1)
  t.equal(total(used(2, 2)), 2)
  t.equal(total(used(0, 0)), 1)
})
