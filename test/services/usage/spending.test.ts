import t from 'tap'
import type { Recorded } from '../../../schemas/recorded.ts'
import { balanceOver } from '../../../src/http/routes/console/credits.ts'
import { debited, recorded, refunded } from '../../support/account-samples.ts'
import { unwrap } from '../../support/unwrap.ts'
import { owner, usageService } from '../../support/usage.ts'

const NOON = '2026-11-20T12:00:00.000Z'
const range = { from: '2026-11-01', to: '2026-11-21' }

/** Credits that are debited, or refunded, on a day. */
const moved = (day: string, credits: number, label?: string): Recorded => {
  const debit = { model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i', ...(label !== undefined && { label }) }
  const { type, data } = credits < 0 ? refunded(-credits, { after: 0, debit }) : debited(credits, { after: 0 })
  const labelled = { type, data: { ...data, ...(label !== undefined && { label }) } }
  return { ...recorded(labelled as never), metadata: { at: `${day}T08:00:00.000Z`, actor: {} } } as never
}

t.test('the largest groups have names, and the others are added up', async t => {
  const events = [
    ...[1, 2, 3, 4, 5].map(number => moved('2026-11-18', number, `label ${number}`)),
    ...[moved('2026-11-19', 10, 'label 1'), moved('2026-11-20', 7), moved('2026-11-20', -4, 'label 5')],
    moved('2026-10-31', 100, 'too early'),
  ]
  const { service } = usageService(events, NOON, { sliceRows: 2 })
  const { days, groups, others, total } = unwrap(await service.spending(owner, { ...range, by: 'label', limit: 3 }))
  t.same(groups, [
    { name: 'label 1', runs: 2, spentMicros: 11e6 },
    { name: undefined, runs: 1, spentMicros: 7e6 },
    { name: 'label 4', runs: 1, spentMicros: 4e6 },
  ])
  t.same(others, { count: 3, runs: 3, spentMicros: 6e6 })
  t.same(total, { runs: 7, spentMicros: 28e6 })
  t.same(days, [
    { day: '2026-11-18', runs: 5, spentMicros: 15e6 },
    { day: '2026-11-19', runs: 1, spentMicros: 10e6 },
    { day: '2026-11-20', runs: 1, spentMicros: 3e6 },
  ])
  const all = unwrap(await service.spending(owner, { ...range, by: 'label', limit: 5 }))
  t.equal(all.groups.length, 6, 'a group that would be the only other one is named')
  t.same(all.others, { count: 0, runs: 0, spentMicros: 0 })
})

t.test('the rows that are read have a limit, and each is read once', async t => {
  const labels = Array.from({ length: 300 }, (_, index) => moved('2026-11-18', 1, `order ${1000 + index}`))
  const { service, counts } = usageService(labels, NOON)
  unwrap(await service.spending(owner, { ...range, by: 'label', limit: 3 }))
  t.equal(counts.rows, 300)
  counts.rows = 0
  unwrap(await service.spending(owner, { ...range, by: 'model', limit: 3 }))
  t.equal(counts.rows, 1, 'labels do not add to the rows of models')
  const small = usageService(labels, NOON, { sliceRows: 50, maxRows: 100 })
  t.same(await small.service.spending(owner, { ...range, by: 'label', limit: 3 }), {
    refuse: { code: 'usage_too_large', limit: 100 },
  })
})

t.test('what was added on a day is how much more the balance grew than was spent', async t => {
  const times = ['00:00', '12:00'].flatMap(time => [`2026-11-18T${time}:00.000Z`])
  const later = ['2026-11-19T00:00:00.000Z', '2026-11-19T12:00:00.000Z', '2026-11-19T15:00:00.001Z']
  const spent = [
    { day: '2026-11-18', runs: 1, spentMicros: 30 },
    { day: '2026-11-19', runs: 1, spentMicros: -5 },
  ]
  const none = { groups: [], others: { count: 0, runs: 0, spentMicros: 0 }, total: { runs: 2, spentMicros: 25 } }
  const { days, points } = balanceOver([...times, ...later], [100, 90, 1070, 1070, 1000], { days: spent, ...none })
  t.same(days, [
    { day: '2026-11-18', addedMicros: 1000, spentMicros: 30, balanceMicros: 1070 },
    { day: '2026-11-19', addedMicros: -75, spentMicros: -5, balanceMicros: 1000 },
  ])
  t.same(
    points.map(({ day }) => day.slice(-2)),
    ['18', '18', '18', '19', '19'],
  )
  t.same([points[0]?.at, points.at(-1)?.at], [0, 1])
})
