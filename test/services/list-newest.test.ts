import t from 'tap'
import type { RunRow } from '../../schemas/views.ts'
import type { Range } from '../../src/ports/view-store.ts'
import { listNewest } from '../../src/services/list-newest.ts'
import type { Reads } from '../../src/services/reads.ts'
import { accountId, runId } from '../support/account-samples.ts'

const ROWS = 5000

/** Reads of an account whose oldest run failed and all others completed. */
const openReads = () => {
  let read = 0
  const rows = Array.from({ length: ROWS }, (_, index) => ({
    key: `${accountId()}/${runId(ROWS - index)}`,
    row: { runId: runId(ROWS - index), status: index === ROWS - 1 ? 'failed' : 'completed' },
  }))
  const list = async (_view: string, _index: string, { after, limit }: Range) => {
    const start = after === undefined ? 0 : rows.findIndex(({ key }) => key === after) + 1
    const page = rows.slice(start, start + limit)
    read += page.length
    return page
  }
  return { reads: { ownWrites: () => undefined, list } as unknown as Reads, read: () => read }
}

t.test('a page may be empty before the end, and following the cursor finds what is left', async t => {
  const { reads, read } = openReads()
  const matches = ({ status }: RunRow) => status === 'failed'
  const found: string[] = []
  let next: `run_${string}` | null | undefined
  let pages = 0
  while (next !== null) {
    const before = read()
    const page = await listNewest(reads, 'runs', accountId(), { limit: 20, matches, cursor: next })
    t.ok(read() - before <= 2020, 'a request reads only so many rows')
    found.push(...page.found.map(each => each.runId))
    next = page.next
    pages += 1
  }
  t.same(found, [runId(1)])
  t.equal(pages, 3)
})
