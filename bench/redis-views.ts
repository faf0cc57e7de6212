import { startRedis } from '../test/support/redis-server.ts'
import type { Benchmark } from './support/compare.ts'
import { putLoad } from './support/load.ts'
import { startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

const ACCOUNTS = 50

export const redisViews: Benchmark = {
  name: 'redis-views',
  question: 'sync runs over 50 accounts, 50 connections, with the views in Redis',
  baseline: 'the same load with embedded views; the log is embedded in both',
  unit: 'runs/s',
  goal: { atLeast: 0.5 },
  prepare: async () => {
    const redis = await startRedis()
    const embedded = await startTollgate({ accounts: ACCOUNTS })
    const remote = await startTollgate({
      accounts: ACCOUNTS,
      env: { VIEW_STORE_URL: redis.url },
      profile: 'redis-views',
    })
    return {
      baseline: () => putLoad(runLoad(embedded)),
      measured: () => putLoad(runLoad(remote)),
      close: async () => {
        await embedded.stop()
        await remote.stop()
        await redis.stop()
      },
    }
  },
}
