import t from 'tap'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { UsageQuery } from '../../../src/services/usage/usage.ts'
import { debited, recorded } from '../../support/account-samples.ts'
import { owner, usageService } from '../../support/usage.ts'

const NOON = '2026-11-20T12:00:00.000Z'

/** A run at a time, with a label. */
const run = (at: string, label: string): Recorded => {
  const { type, data } = debited(1, { after: 0 })
  return { ...recorded({ type, data: { ...data, label } } as never), metadata: { at, actor: {} } } as never
}

const labels = Array.from({ length: 500 }, (_, index) => `order ${1000 + index}`)
const days = ['2026-11-18', '2026-11-19', '2026-11-20']
const busy = days.flatMap(day => labels.map(label => run(`${day}T08:00:00.000Z`, label)))

t.test('without days, the 30 days up to the end of today are added up', async t => {
  const times = ['2026-10-21T23:59:59.999Z', '2026-10-22T00:00:00.000Z', '2026-11-20T23:59:59.999Z']
  const { page } = usageService(
    [...times, '2026-11-21T00:00:00.000Z'].map(at => run(at, 'a')),
    NOON,
  )
  t.match(await page({}), { from: '2026-10-22', to: '2026-11-21', found: [{ runs: 2 }] })
  t.match(await page({ from: '2026-10-21' }), { from: '2026-10-21', to: '2026-11-21', found: [{ runs: 3 }] })
  t.match(await page({ to: '2026-11-20' }), { from: '2026-10-21', to: '2026-11-20', found: [{ runs: 2 }] })
})

t.test('a period has at least a day and at most a leap year', async t => {
  const { service, page } = usageService([], NOON)
  const refused = async (query: Partial<UsageQuery>) =>
    t.same(await service.list(owner, { groupBy: [], limit: 1, ...query }), {
      refuse: { code: 'usage_days_invalid', maxDays: 366 },
    })
  await refused({ from: '2026-11-20', to: '2026-11-20' })
  await refused({ from: '2026-11-21' })
  await refused({ from: '2027-01-01', to: '2028-01-03' })
  t.match(await page({ from: '2028-01-01', to: '2029-01-01' }), { found: [{ runs: 0 }] })
})

t.test('the days by default begin with the first that has a name of four digits', async t => {
  const { service, page } = usageService([], NOON)
  t.match(await page({ to: '0000-01-15' }), { from: '0000-01-01', to: '0000-01-15', found: [{ runs: 0 }] })
  const refused = await service.list(owner, { groupBy: [], limit: 1, to: '0000-01-01' })
  t.match(refused, { refuse: { code: 'usage_days_invalid' } })
})

t.test('the total of nothing is one item of zeros, and groups of nothing are none', async t => {
  const { page } = usageService([], NOON)
  const zeros = { runs: 0, failures: 0, chargedMicros: 0, refundedMicros: 0 }
  t.match(await page({}), { found: [zeros], next: null })
  t.match(await page({ groupBy: ['model'] }), { found: [], next: null })
})

t.test('a cursor of another list is refused', async t => {
  const { service, page } = usageService(busy, NOON)
  const { next } = await page({ groupBy: ['label'], limit: 1 })
  const others = [
    { groupBy: ['model'], cursor: next },
    { groupBy: ['day', 'label'], cursor: next },
    { groupBy: [], cursor: next },
    { groupBy: ['label'], cursor: Buffer.from('label/a').toString('base64url') },
    { groupBy: ['label'], cursor: Buffer.from('label/a\n/').toString('base64url') },
    { groupBy: ['label'], cursor: 'nope' },
  ] as unknown as UsageQuery[]
  for (const query of others) {
    const found = await service.list(owner, { ...query, limit: 1 })
    t.same(found, { refuse: { code: 'cursor_unknown' } }, JSON.stringify(query))
  }
})

t.test('labels do not add to the rows that are read for other groups', async t => {
  const { counts, page } = usageService(busy, NOON)
  t.match(
    (await page({ groupBy: ['day', 'model'] })).found,
    days.map(day => ({ day, runs: 500 })),
  )
  t.equal(counts.rows, 3)
})

t.test('a page by day and label reads little more than its groups, wherever it begins', async t => {
  const { counts, page } = usageService(busy, NOON, { sliceRows: 10 })
  let cursor: string | undefined
  for (let number = 0; number < 60; number++) {
    const { found, next } = await page({ groupBy: ['day', 'label'], limit: 10, cursor })
    t.match(found[0], { day: days[Math.floor(number / 50)], label: `order ${1000 + ((number * 10) % 500)}` })
    cursor = next ?? undefined
  }
  t.ok(counts.rows <= 60 * 30, `${counts.rows} rows were read`)
})

t.test('a page that would read too many rows is refused', async t => {
  const { service, counts, page } = usageService(busy, NOON, { sliceRows: 100, maxRows: 1000 })
  const refused = await service.list(owner, { groupBy: ['label'], limit: 1 })
  t.same(refused, { refuse: { code: 'usage_too_large', limit: 1000 } })
  t.equal(counts.rows, 1000)
  t.equal((await page({ groupBy: ['label'], from: '2026-11-20', limit: 100 })).found.length, 100)
})

t.test('an owner has one page read after another, and none for a client that has left', async t => {
  const { counts, page } = usageService(busy, NOON, { sliceRows: 100 })
  const left = new AbortController()
  const turns: string[] = []
  const client = (name: string) => ({
    nextTurn: async () => {
      turns.push(name)
      if (name === 'c') left.abort()
    },
    signal: name === 'c' ? left.signal : new AbortController().signal,
  })
  const query = { groupBy: ['label'] as const, from: '2026-11-19' }
  await Promise.all(['a', 'b', 'c'].map(name => page(query, client(name))))
  t.equal(turns.join(''), `${'a'.repeat(10)}${'b'.repeat(10)}c`)
  t.equal(counts.rows, 1000 + 1000 + 100)
})
