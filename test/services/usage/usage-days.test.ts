import t from 'tap'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { SpendingPart } from '../../../src/services/usage/spending.ts'
import { debited, recorded } from '../../support/account-samples.ts'
import { unwrap } from '../../support/unwrap.ts'
import { owner, usageService } from '../../support/usage.ts'

const NOON = '2026-11-20T12:00:00.000Z'
const range = { from: '2026-11-01', to: '2026-11-21' }

/** Runs with a label each, on a day. */
const runs = (day: string, labels: string[]): Recorded[] =>
  labels.map(label => {
    const { type, data } = debited(1, { after: 0 })
    const metadata = { at: `${day}T08:00:00.000Z`, actor: {} }
    return { ...recorded({ type, data: { ...data, label } } as never), metadata } as never
  })

const labels = Array.from({ length: 25 }, (_, index) => `label ${10 + index}`)
const past = ['2026-11-02', '2026-11-03', '2026-11-19'].flatMap(day => runs(day, labels))

const watched = (by: SpendingPart, sliceRows: number) => {
  const { service, counts, add } = usageService(past, NOON, { sliceRows })
  const read = async (days = range) => {
    counts.rows = 0
    const { total, days: shown, groups } = unwrap(await service.spending(owner, { ...days, by, limit: 100 }))
    return { rows: counts.rows, runs: total.runs, days: shown.map(({ runs: each }) => each), groups: groups.length }
  }
  return { read, add }
}

for (const sliceRows of [7, 25, 200])
  t.test(`the rows of a day are read once until one changes, ${sliceRows} at a time`, async t => {
    const { read, add } = watched('label', sliceRows)
    const all = { runs: 75, days: [25, 25, 25], groups: 25 }
    t.same(await read(), { rows: 75, ...all })
    t.same(await read(), { rows: 0, ...all })
    t.match(await read({ from: '2026-11-03', to: '2026-11-20' }), { rows: 0, runs: 50 })
    add(runs('2026-11-19', ['new'])[0] as Recorded)
    t.same(await read(), { rows: 26, runs: 76, days: [25, 25, 26], groups: 26 })
    t.match(await read(), { rows: 0, runs: 76 })
  })

t.test('a day without rows is read again once it has some', async t => {
  const { read, add } = watched('model', 200)
  await read()
  add(runs('2026-11-10', ['late'])[0] as Recorded)
  t.same(await read(), { rows: 1, runs: 76, days: [25, 25, 1, 25], groups: 1 })
})

t.test('all days are read again once any row may have changed', async t => {
  const { read, add } = watched('label', 200)
  await read()
  add(runs('2026-11-02', ['elsewhere'])[0] as Recorded, false)
  t.match(await read(), { rows: 76, runs: 76 })
})

t.test('a day that changes while it is read is read again', async t => {
  const { read, add } = watched('label', 7)
  const reading = read()
  // The first slices have been read, and their days go on in the next.
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
  add(runs('2026-11-02', ['between'])[0] as Recorded)
  await reading
  t.match(await read(), { runs: 76, days: [26, 25, 25] })
})

t.test('the days of a label are read without those of other labels', async t => {
  const { service, counts } = usageService([...past, ...runs('2026-11-19', ['a/b', 'label 1', 'label 10'])], NOON)
  const groups = async (label: string) => {
    counts.rows = 0
    const found = unwrap(await service.groups(owner, { ...range, label }))
    return { rows: counts.rows, found: found.map(each => [each.day, each.label, each.runs]) }
  }
  t.same(await groups('a/b'), { rows: 1, found: [['2026-11-19', 'a/b', 1]] })
  t.same(await groups('label 1'), { rows: 1, found: [['2026-11-19', 'label 1', 1]] })
  t.same((await groups('label 10')).found, [
    ['2026-11-02', 'label 10', 1],
    ['2026-11-03', 'label 10', 1],
    ['2026-11-19', 'label 10', 2],
  ])
  t.same(await groups('nobody'), { rows: 0, found: [] })
})

t.test('groups have as many days as a page of usage', async t => {
  const { service } = usageService(past, NOON)
  t.match(await service.groups(owner, { from: '2025-11-01', to: '2026-11-21' }), {
    refuse: { code: 'usage_days_invalid' },
  })
  t.equal(unwrap(await service.groups(owner, range)).length, 3)
  t.same(unwrap(await service.groups({ ...owner, livemode: false }, range)), [])
})
