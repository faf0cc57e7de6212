import { EMPTY, from, of } from 'rxjs'
import t from 'tap'
import type { RunRow } from '../../schemas/views.ts'
import { followRun } from '../../src/mcp/follow-run.ts'
import type { Call } from '../../src/mcp/tool.ts'

const processing = { runId: 'run_1', status: 'processing' } as unknown as RunRow
const completed = { ...processing, status: 'completed' } as RunRow

/** The percentages that the client gets of a run whose provider reports these shares of its work. */
const percentsOf = async (shares: number[]): Promise<number[]> => {
  const percents: number[] = []
  const followed = {
    row: processing,
    progress: from(shares),
    texts: EMPTY,
    changes: () => of(completed),
  }
  const runs = { followRun: async () => ({ value: followed }) }
  const call = { services: { runs }, caller: {}, signal: new AbortController().signal } as unknown as Call
  await followRun(processing, call, percent => percents.push(percent), 60_000)
  return percents
}

t.test('a run that has not ended stays below 100 %, whatever its provider reports', async t => {
  for (const share of [0.995, 1, 1.5]) {
    // A provider may report the same share every 100 ms.
    const percents = await percentsOf(Array.from({ length: 450 }, () => share))
    t.equal(percents.pop(), 100, 'the end')
    t.ok(
      percents.every(percent => percent < 100),
      `${percents}`,
    )
  }
})
