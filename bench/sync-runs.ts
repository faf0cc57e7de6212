import type { Benchmark } from './support/compare.ts'
import { type Load, putLoad } from './support/load.ts'
import { type Server, startBare, startTollgate } from './support/servers.ts'

export const runLoad = ({ pid, url, keys }: Pick<Server, 'pid' | 'url' | 'keys'>): Load => ({
  pid,
  url: `${url}/v1/run`,
  keys,
  method: 'POST',
  connections: 50,
  body: { model: 'nano-banana-2', input: { prompt: 'a lighthouse at dusk', aspect_ratio: '16:9' } },
})

export const syncRuns: Benchmark = {
  name: 'sync-runs',
  question: 'sync runs, 50 connections, with an instant provider',
  baseline: 'bare Koa and koa-body echoing the same body',
  unit: 'runs/s',
  goal: { atLeast: 0.25 },
  prepare: async () => {
    const bare = await startBare()
    const tollgate = await startTollgate({ accounts: 50, profile: 'sync-runs' })
    return {
      baseline: () => putLoad(runLoad(bare)),
      measured: () => putLoad(runLoad(tollgate)),
      close: async () => {
        await bare.stop()
        await tollgate.stop()
      },
    }
  },
}
