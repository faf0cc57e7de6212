import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark } from './support/compare.ts'
import { type Load, putLoad } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

const asyncLoad = (server: Server): Load => ({
  ...runLoad(server),
  body: { model: 'lyria-2', input: { prompt: 'a slow tune for a lighthouse' } },
})

/** Waits until the queue is empty, so that one round does not slow the next. */
const drain = async ({ url, keys }: Server) => {
  const headers = { authorization: `Bearer ${keys[0]}` }
  while (true) {
    const answer = await fetch(`${url}/v1/runs?status=queued&limit=1`, { headers })
    const { data } = (await answer.json()) as { data: unknown[] }
    if (data.length === 0) return
    await delay(200)
  }
}

export const asyncRuns: Benchmark = {
  name: 'async-runs',
  question: 'async runs accepted, 50 connections, with an instant provider',
  baseline: 'sync runs under the same load',
  unit: 'runs/s',
  goal: { atLeast: 1 },
  prepare: async () => {
    const sync = await startTollgate()
    const async = await startTollgate({ profile: 'async-runs' })
    return {
      baseline: () => putLoad(runLoad(sync)),
      measured: async () => {
        const rate = await putLoad(asyncLoad(async))
        await drain(async)
        return rate
      },
      close: async () => {
        await sync.stop()
        await async.stop()
      },
    }
  },
}
