import t from 'tap'
import type { RunId } from '../../../schemas/primitives.ts'
import type { RunRow } from '../../../schemas/views.ts'
import { systemClock } from '../../../src/adapters/clock/system.ts'
import { NewestFirst, type WaitingClient } from '../../../src/services/views/newest-first.ts'
import type { Reads } from '../../../src/services/views/reads.ts'
import { accountId, runId } from '../../support/account-samples.ts'

/** A thousand runs of each account, and how many reads of them are under way and were made. */
const open = () => {
  const counts = { reading: 0, most: 0, rows: 0 }
  const list: Reads['list'] = async (_view, _index, { prefix, after, limit }) => {
    counts.reading += 1
    counts.most = Math.max(counts.most, counts.reading)
    await new Promise(setImmediate)
    counts.reading -= 1
    const from = after === undefined ? 1000 : Number(after.slice(-4)) - 1
    const numbers = Array.from({ length: Math.min(limit, from) }, (_, index) => from - index)
    counts.rows += numbers.length
    return numbers.map(number => {
      const key = prefix + runId(number)
      return { place: key, key, row: { runId: runId(number), model: number % 400 === 0 ? 'rare' : 'common' } }
    }) as never
  }
  const lists = new NewestFirst({ reads: { ownWrites: () => undefined, list } as unknown as Reads, clock: systemClock })
  const page = (matches: (row: RunRow) => boolean, cursor?: RunId, account = 1, client?: WaitingClient) =>
    lists.page<'runs', RunId>('runs', accountId(account), { limit: 10, cursor, matches }, client)
  return { counts, page }
}

const isRare = ({ model }: RunRow) => model === 'rare'

t.test('a filtered page examines a bounded number of rows, and the next one goes on there', async t => {
  const { counts, page } = open()
  const first = await page(isRare)
  t.same(
    first.found.map(row => row.runId),
    [runId(800)],
  )
  t.equal(counts.rows, 500)
  const second = await page(isRare, first.next ?? undefined)
  t.same(
    second.found.map(row => row.runId),
    [runId(400)],
  )
  t.equal((await page(isRare, second.next ?? undefined)).next, null)
})

t.test('the pages of one owner are read one after another, and those of others meanwhile', async t => {
  const { counts, page } = open()
  await Promise.all(Array.from({ length: 20 }, () => page(isRare)))
  t.equal(counts.most, 1)
  await Promise.all([page(isRare, undefined, 1), page(isRare, undefined, 2)])
  t.equal(counts.most, 2)
})

t.test('a page that fails does not stop the next one', async t => {
  const { page } = open()
  const failing = page(() => {
    throw new Error('broken')
  })
  const next = page(isRare)
  await t.rejects(failing)
  t.equal((await next).found.length, 1)
})

t.test('each read but the first takes a turn, and none is made for a client that has disconnected', async t => {
  const { counts, page } = open()
  const disconnected = new AbortController()
  const { signal } = disconnected
  let turns = 0
  const nextTurn = async () => {
    turns += 1
    if (turns === 3) disconnected.abort()
  }
  await page(isRare, undefined, 1, { nextTurn, signal })
  t.same([turns, counts.rows], [3, 3 * 25])
  // These wait for each other.
  await Promise.all(Array.from({ length: 20 }, () => page(isRare, undefined, 1, { nextTurn, signal })))
  t.same([turns, counts.rows], [3, 3 * 25])
})
