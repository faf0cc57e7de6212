import t from 'tap'
import { lineKey, statement } from '../../../projections/statement.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import type { StatementRow } from '../../../schemas/views.ts'
import { BY_KEY, type Range } from '../../../src/ports/view-store.ts'
import { type AccountMoment, lineAt as find } from '../../../src/services/ledger/line-at.ts'
import type { Reads } from '../../../src/services/reads.ts'
import { accountId } from '../../support/account-samples.ts'
import { seededRandom, testSeed } from '../../support/seeded-random.ts'

const lineAt = (reads: Reads, account: AccountId, moment: AccountMoment, pause = async () => undefined) =>
  find(reads, account, moment, pause)

const timeOf = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

/** Lines at these seconds, at every second revision. */
const linesAt = (...seconds: number[]) =>
  seconds.map((second, index) => ({ revision: 2 * index + 1, at: timeOf(second) }) as StatementRow)

const readsOf = (lines: StatementRow[]): Reads => {
  const list = async (_view: string, index: string, { prefix, after, newestFirst, limit }: Range) => {
    const placeOf = (row: StatementRow, key: string) =>
      index === BY_KEY ? key : (statement.indexes[index]?.(row, key) as string)
    const entries = lines.map(row => {
      const key = lineKey(accountId(), row.revision)
      return { place: placeOf(row, key), key, row }
    })
    const ordered = entries.toSorted((a, b) => (a.place < b.place === !newestFirst ? -1 : 1))
    const isAfter = (place: string) => after === undefined || (newestFirst ? place < after : place > after)
    return ordered.filter(({ place }) => place.startsWith(prefix) && isAfter(place)).slice(0, limit)
  }
  return { list } as unknown as Reads
}

/** The last line by this definition, which needs all of them. */
const expectedAt = (lines: StatementRow[], at: string): StatementRow | undefined => {
  const latest = lines
    .filter(line => line.at <= at)
    .toSorted((a, b) => (a.at === b.at ? a.revision - b.revision : a.at < b.at ? -1 : 1))
    .at(-1)
  if (!latest) return undefined
  const from = lines.indexOf(latest)
  const end = lines.findIndex((line, index) => index > from && line.at > at)
  return lines.slice(from, end === -1 ? undefined : end).at(-1)
}

t.test('the last line by a revision', async t => {
  const lines = linesAt(0, 10, 20)
  const found = await Promise.all(
    [0, 1, 2, 3, 4, 5, 6, 99].map(revision => lineAt(readsOf(lines), accountId(), { revision })),
  )
  t.same(
    found.map(line => line?.revision),
    [undefined, 1, 1, 3, 3, 5, 5, 5],
  )
})

t.test('the last line by a time, which is included, and of several at one time the last', async t => {
  const lines = linesAt(10, 20, 20, 30)
  const found = await Promise.all(
    [0, 9, 10, 15, 20, 21, 99].map(second => lineAt(readsOf(lines), accountId(), { at: timeOf(second) })),
  )
  t.same(
    found.map(line => line?.revision),
    [undefined, undefined, 1, 1, 5, 5, 7],
  )
})

t.test('after a time went back, the last line of all is the last one for every later time', async t => {
  const lines = linesAt(10, 50, ...Array.from({ length: 60 }, (_, index) => 12 + (index % 3)))
  const [beforeJump, atJump, later] = await Promise.all(
    [11, 50, 99].map(second => lineAt(readsOf(lines), accountId(), { at: timeOf(second) })),
  )
  t.same([beforeJump?.revision, atJump, later], [1, lines.at(-1), lines.at(-1)])
})

t.test('a long way after a time went back lets other work be done', async t => {
  const lines = linesAt(50, ...Array.from({ length: 1000 }, () => 12))
  let pauses = 0
  const pause = async () => {
    pauses += 1
    return undefined
  }
  t.equal(await lineAt(readsOf(lines), accountId(), { at: timeOf(99) }, pause), lines.at(-1))
  t.ok(pauses >= 1000 / 25)
})

const seed = testSeed()
t.test(`random times, which may go back (TEST_SEED=${seed})`, async t => {
  const random = seededRandom(seed)
  const wrong: object[] = []
  for (let round = 0; round < 50; round++) {
    const lines = linesAt(...Array.from({ length: 40 }, (_, index) => index + Math.floor(random() * 15)))
    const reads = readsOf(lines)
    for (let second = -1; second < 60; second++) {
      const at = timeOf(second)
      const [found, expected] = [await lineAt(reads, accountId(), { at }), expectedAt(lines, at)]
      if (found !== expected) wrong.push({ at, found, expected, lines })
    }
  }
  t.same(wrong, [])
})
