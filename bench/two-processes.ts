import { startRedis } from '../test/support/redis-server.ts'
import type { Benchmark } from './support/compare.ts'
import { withFolder } from './support/folder.ts'
import { putLoad } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

/** Each server gets half of the connections and accounts, from its own load generator. */
const HALF = 25

const putHalves = async (servers: [Server, Server], keys: string[]): Promise<number> => {
  const rates = await Promise.all(
    servers.map(({ url }, index) =>
      putLoad({
        ...runLoad({ url, keys: keys.slice(index * HALF, (index + 1) * HALF) }),
        connections: HALF,
      }),
    ),
  )
  return rates.reduce((sum, rate) => sum + rate)
}

export const twoProcesses: Benchmark = {
  name: 'two-processes',
  question: 'sync runs of two processes on one log and one Redis, with the load generator on the same machine',
  baseline: 'one process under the same load',
  unit: 'runs/s',
  prepare: async () => {
    const redis = await startRedis()
    const { folder, discard } = await withFolder()
    const env = { VIEW_STORE_URL: redis.url }
    const one = await startTollgate({ accounts: 2 * HALF, env: { ...env, VIEW_KEY_SPACE: 'one' } })
    const shared = { ...env, VIEW_KEY_SPACE: 'two', DATA_DIR: folder }
    const first = await startTollgate({ accounts: 2 * HALF, env: shared, profile: 'first-of-two' })
    const second = await startTollgate({ accounts: 0, env: shared, profile: 'second-of-two' })
    return {
      baseline: () => putHalves([one, one], one.keys),
      measured: () => putHalves([first, second], first.keys),
      close: async () => {
        for (const server of [one, first, second]) await server.stop()
        await redis.stop()
        await discard()
      },
    }
  },
}
