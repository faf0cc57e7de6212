import { startRedis } from '../test/support/redis-server.ts'
import type { Benchmark, Measurement } from './support/compare.ts'
import { measureCpu } from './support/cpu.ts'
import { withFolder } from './support/folder.ts'
import { sendLoad } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

/** Each server gets half of the connections and accounts, from its own load generator. */
const HALF = 25

const putHalves = (servers: [Server, Server], keys: string[]): Promise<Measurement> =>
  measureCpu([...new Set(servers.map(({ pid }) => pid))], async () => {
    const halves = await Promise.all(
      servers.map((server, index) =>
        sendLoad({
          ...runLoad({ ...server, keys: keys.slice(index * HALF, (index + 1) * HALF) }),
          connections: HALF,
        }),
      ),
    )
    const sum = (of: 'operations' | 'value') => halves.reduce((total, half) => total + half[of], 0)
    return { operations: sum('operations'), value: sum('value') }
  })

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
