import assert from 'node:assert/strict'
import t from 'tap'
import { lineKey, statement } from '../../../projections/statement.ts'
import { accountStream } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import type { StatementRow } from '../../../schemas/views.ts'
import { totalOf } from '../../../src/audit/books.ts'
import { replayAccount } from '../../../src/audit/replay.ts'
import { BY_KEY, type Range } from '../../../src/ports/view-store.ts'
import { type AccountMoment, lineAt } from '../../../src/services/ledger/past-line.ts'
import type { Reads } from '../../../src/services/views/reads.ts'
import { accountId, digest, keyId } from '../../support/account-samples.ts'
import { logOf } from '../../support/log-of.ts'
import { seededRandom, testSeed } from '../../support/seeded-random.ts'

const timeOf = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString()

/** An account with events at these seconds. Every second one is a line. */
const historyAt = (seconds: number[], format?: 2): RawEvent[] =>
  seconds.map((second, revision) => {
    const [type, data] = contentOf(revision)
    const metadata = { ...(format && { format }), at: timeOf(second), actor: { kind: 'service' }, hash: digest('0') }
    const id = `00000000-0000-4000-8000-${String(revision).padStart(12, '0')}`
    return { id, stream: accountStream(accountId()), revision, position: revision, type, data, metadata }
  })

const contentOf = (revision: number): [type: string, data: object] => {
  if (revision === 0) return ['AccountOpened', { accountId: accountId(), email: 'ada@example.com', tester: false }]
  if (revision % 2 === 0) {
    const key = { keyId: keyId(revision), name: 'laptop', hash: digest('b'), lastFour: 'beef', scope: 'full' }
    return ['ApiKeyCreated', key]
  }
  const balance = { amountMicros: 1, balanceAfterMicros: (revision + 1) / 2 }
  return ['CreditsGranted', { ...balance, kind: 'courtesy', reference: `gift-${revision}`, reason: 'a gift' }]
}

const readsOf = (history: RawEvent[]): Reads => {
  const lines = history
    .filter(({ type }) => type === 'CreditsGranted')
    .map(({ revision, data, metadata }) => ({ revision, ...(data as object), ...(metadata as { at: string }) }))
  const list = async (_view: string, index: string, { prefix, after, newestFirst, limit }: Range) => {
    const entries = lines.map(line => {
      const row = line as unknown as StatementRow
      const key = lineKey(accountId(), row.revision)
      return { place: index === BY_KEY ? key : (statement.indexes[index]?.(row, key) as string), key, row }
    })
    const ordered = entries.toSorted((a, b) => (a.place < b.place === !newestFirst ? -1 : 1))
    const isAfter = (place: string) => after === undefined || (newestFirst ? place < after : place > after)
    return ordered.filter(({ place }) => place.startsWith(prefix) && isAfter(place)).slice(0, limit)
  }
  return { list } as unknown as Reads
}

const findIn = (history: RawEvent[], moment: AccountMoment) =>
  lineAt({ reads: readsOf(history), log: logOf(history), pause: async () => undefined }, accountId(), moment)

const revisionsAt = (history: RawEvent[], moments: AccountMoment[]) =>
  Promise.all(moments.map(async moment => (await findIn(history, moment))?.revision))

t.test('the last line by a revision', async t => {
  const moments = [0, 1, 2, 3, 4, 5, 6, 99].map(revision => ({ revision }))
  const expected = [undefined, 1, 1, 3, 3, 5, 5, 5]
  t.same(await revisionsAt(historyAt([0, 0, 5, 10, 15, 20]), moments), expected)
})

t.test('the last line by a time, which is included, and of several at one time the last', async t => {
  const moments = [0, 9, 10, 15, 20, 21, 99].map(second => ({ at: timeOf(second) }))
  const seconds = [5, 10, 12, 20, 20, 20, 25, 30]
  const expected = [undefined, undefined, 1, 1, 5, 5, 7]
  t.same(await revisionsAt(historyAt(seconds, 2), moments), expected)
  t.same(await revisionsAt(historyAt(seconds), moments), expected, 'in format 1')
})

t.test('in format 1, a line counts as if it had the time of an event before it that is later', async t => {
  const history = historyAt([10, 10, 50, 12, 12, 60, 11, 13])
  const moments = [9, 10, 12, 49, 50, 59, 60, 99].map(second => ({ at: timeOf(second) }))
  t.same(await revisionsAt(history, moments), [undefined, 1, 1, 1, 3, 3, 7, 7])
})

t.test(
  'a long history in format 1 lets other work be done, and in later formats only its first event is read',
  async t => {
    const history = historyAt(Array.from({ length: 3000 }, (_, second) => second))
    let pauses = 0
    const pause = async () => {
      pauses += 1
    }
    const inPages = async function* () {
      for (let from = 0; from < history.length; from += 500) yield history.slice(from, from + 500)
    }
    const long = { reads: readsOf(history), log: { ...logOf(history), readStream: inPages }, pause }
    t.equal((await lineAt(long, accountId(), { at: timeOf(2000) }))?.revision, 1999)
    t.equal(pauses, 4, 'after each page before that time')
    const later = historyAt([0, 1, 2], 2)
    const log = { readEvent: logOf(later).readEvent, readStream: () => assert.fail('the history is read') }
    t.equal((await lineAt({ reads: readsOf(later), log, pause }, accountId(), { at: timeOf(9) }))?.revision, 1)
  },
)

const seed = testSeed()
t.test(
  `at random times, the line is that of a replay of the log, whatever the clock did (TEST_SEED=${seed})`,
  async t => {
    const random = seededRandom(seed)
    const wrong: object[] = []
    for (let round = 0; round < 20; round++) {
      const seconds = Array.from({ length: 40 }, (_, index) => index + Math.floor(random() * 15))
      const history = historyAt([0, ...seconds])
      for (let second = 0; second < 60; second++) {
        const asOf = { at: timeOf(second) }
        const { account } = await replayAccount(logOf(history), accountId(), { asOf })
        const found = (await findIn(history, asOf))?.balanceAfterMicros ?? 0
        const expected = totalOf(account.balance)
        if (found !== expected) wrong.push({ asOf, found, expected, seconds })
      }
    }
    t.same(wrong.slice(0, 2), [])
  },
)
