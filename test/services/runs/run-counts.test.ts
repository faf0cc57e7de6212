import t from 'tap'
import type { AccountCaller } from '../../../src/services/caller.ts'
import { RunCounts, sumOf } from '../../../src/services/runs/run-counts.ts'
import { unwrap } from '../../support/unwrap.ts'

const caller = { kind: 'session', accountId: 'acc' } as unknown as AccountCaller

const DAY = { from: '2026-11-26T00:00:00.000Z', to: '2026-11-28T00:00:00.000Z' }

/** An account with so many runs on each of two days, of which the views show a few. */
const countsOf = (runsADay: number, rows: object[] = []) =>
  new RunCounts({
    reads: {
      ownWrites: async () => undefined,
      list: async () => rows.map(row => ({ place: 'acc/run', row })),
    } as never,
    runReads: { rangeOf: () => ({ matches: () => true }) } as never,
    usage: {
      groups: (async (_: unknown, { label }: { label?: string }) => ({
        value: (label === undefined ? ['2026-11-26', '2026-11-27'] : ['2026-11-27']).flatMap(day =>
          ['nano', 'veo'].map(model => ({
            ...{ day, model, keyId: `key_${model}`, runs: runsADay / 2, failures: 1 },
            ...{ chargedMicros: 50, refundedMicros: 10, releasedMicros: 5 },
          })),
        ),
      })) as never,
    },
    clock: undefined as never,
  })

t.test('a period with too many runs is counted by days, with every filter that their sums know', async t => {
  const counts = countsOf(1_000_000)
  const sums = async (filter: object) => {
    const { bars, countedFromMs } = unwrap(await counts.histogram(caller, { ...DAY, ...filter }))
    t.equal(bars.length, 2)
    t.equal(countedFromMs, Date.parse(DAY.from))
    return sumOf(bars)
  }
  t.same(await sums({}), { runs: 2_000_000, failures: 4, creditsMicros: 140 })
  t.same(await sums({ model: 'veo' }), { runs: 1_000_000, failures: 2, creditsMicros: 70 })
  t.same(await sums({ keyId: 'key_nano' }), { runs: 1_000_000, failures: 2, creditsMicros: 70 })
  t.same(await sums({ status: 'failed' }), { runs: 4, failures: 4, creditsMicros: 0 })
  t.same(await sums({ label: 'customer 1', model: 'veo' }), { runs: 500_000, failures: 1, creditsMicros: 35 })
})

t.test('whether a period has too many runs does not depend on the filter', async t => {
  const { bars } = unwrap(await countsOf(2_000).histogram(caller, { ...DAY, model: 'none' }))
  t.equal(bars.length, 2)
  t.same(sumOf(bars), { runs: 0, failures: 0, creditsMicros: 0 })
})

t.test('fewer runs are counted one by one, each in the bar of its time', async t => {
  const rows = [
    { createdAt: '2026-11-27T23:59:59.999Z', status: 'failed', chargedMicros: 10, refundedMicros: 10 },
    { createdAt: '2026-11-26T00:00:00.000Z', status: 'completed', chargedMicros: 10, releasedMicros: 4 },
    { createdAt: '2026-11-28T00:00:00.000Z', status: 'completed', chargedMicros: 99 },
  ]
  const { bars } = unwrap(await countsOf(2, rows).histogram(caller, DAY))
  t.equal(bars.length, 48)
  t.match(bars[0], { runs: 1, failures: 0, creditsMicros: 6 })
  t.match(bars.at(-1), { runs: 1, failures: 1, creditsMicros: 0, toMs: Date.parse(DAY.to) })
  t.same(sumOf(bars), { runs: 2, failures: 1, creditsMicros: 6 })
})
