import t from 'tap'
import { costOf } from '../../schemas/account-events.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import { isBelowCost, type Margin, margins, marginUsdMicros, providerStatement } from '../../src/audit/costs.ts'
import { collect } from '../support/collect.ts'
import { logOf } from '../support/log-of.ts'
import { unwrap } from '../support/unwrap.ts'
import { startWithCosts } from '../support/vendor-log.ts'

const { service, customer, events: read } = await startWithCosts(t)
const [, completed] = (await customer.send<{ data: { run_id: string }[] }>('/v1/runs')).body.data
const runId = completed?.run_id as string
const operator = { kind: 'operator', name: 'test' } as const
unwrap(await service.core.services.refunds.refund(operator, runId, { amountMicros: 250_000, reason: 'a gift' }))
await customer.run({ model: 'sandbox', input: { prompt: 'no vendor' } })
const events = await read()
const costs = events.filter(costOf)
const timeOf = (index: number) => (costs[index] as RawEvent & { metadata: { at: string } }).metadata.at
const month = timeOf(0).slice(0, 7)
const log = logOf(events)

t.test('a margin has the charges, refunds and costs of a family at a provider', async t => {
  const rows = await margins(log)
  t.match(rows, [
    {
      ...{ month, family: 'vendor', provider: 'vendor', runs: 2, failed: 1, chargedMicros: 2_000_000n },
      ...{ refundedMicros: 1_250_000n, unknownCosts: 1, withoutRate: 0 },
    },
  ])
  t.same([...(rows[0] as Margin).costs], [['USD', 8_123_456n]])
})

t.test('a margin is known in dollars only where all of it is', async t => {
  const [row] = (await margins(log)) as [Margin]
  t.equal(marginUsdMicros(row), undefined, 'a cost is unknown')
  t.equal(row.earnedUsdPicos % 750_000n, 0n)
  const known = { ...row, unknownCosts: 0 }
  t.equal(marginUsdMicros(known), row.earnedUsdPicos / 1_000_000n - 8_123_456n)
  t.equal(marginUsdMicros({ ...known, costs: new Map([['EUR', 1n]]) }), undefined)
  t.equal(marginUsdMicros({ ...known, withoutRate: 1 }), undefined)
})

t.test('a family sells below cost if its known costs are more than it earned', async t => {
  const [row] = (await margins(log)) as [Margin]
  const at = (earnedUsdPicos: bigint, change: Partial<Margin> = {}) =>
    isBelowCost({ ...row, earnedUsdPicos, ...change })
  t.ok(at(8_123_455_999_999n))
  t.notOk(at(8_123_456_000_000n))
  t.notOk(at(0n, { costs: new Map() }))
  t.notOk(at(0n, { withoutRate: 1 }), 'what was earned is not known')
})

t.test('a period has the runs that ended in it, and the refunds that were made in it', async t => {
  const before = await margins(log, { to: timeOf(0) })
  t.same(before, [])
  const until = (await margins(log, { to: timeOf(1) })) as [Margin]
  t.match(until, [{ runs: 1, failed: 0, chargedMicros: 1_000_000n, refundedMicros: 0n, unknownCosts: 0 }])
  const after = (await margins(log, { from: timeOf(1) })) as [Margin]
  t.match(after, [{ runs: 1, failed: 1, chargedMicros: 1_000_000n, refundedMicros: 1_250_000n, unknownCosts: 1 }])
  t.equal(after[0].costs.size, 0)
})

t.test('the statement of a provider has each run that it charges for', async t => {
  const lines = await collect(providerStatement(log, { provider: 'vendor' }))
  t.match(lines, [
    {
      ...{ runId, at: timeOf(0), outcome: 'completed', model: 'test', version: 'v7', units: { seconds: 1.5 } },
      ...{ amountMicros: 8_123_456, currency: 'USD', source: 'reported' },
    },
    { at: timeOf(1), outcome: 'failed', source: 'unknown' },
  ])
  t.same(await collect(providerStatement(log, { provider: 'sandbox' })), [])
  t.match(await collect(providerStatement(log, { provider: 'vendor', from: timeOf(1) })), [{ outcome: 'failed' }])
  t.match(await collect(providerStatement(log, { provider: 'vendor', to: timeOf(1) })), [{ outcome: 'completed' }])
})
