import type { Benchmark } from './support/compare.ts'
import { putLoad } from './support/load.ts'
import { startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

export const hotAccount: Benchmark = {
  name: 'hot-account',
  question: 'sync runs on one hot account, 50 connections',
  baseline: 'the same load over 1,000 accounts',
  unit: 'runs/s',
  goal: { atLeast: 0.8 },
  prepare: async () => {
    const spread = await startTollgate({ accounts: 1000 })
    const hot = await startTollgate({ accounts: 1, profile: 'hot-account' })
    return {
      baseline: () => putLoad(runLoad(spread)),
      measured: () => putLoad(runLoad(hot)),
      close: async () => {
        await spread.stop()
        await hot.stop()
      },
    }
  },
}
