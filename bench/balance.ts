import type { Benchmark } from './support/compare.ts'
import { type Load, putLoad } from './support/load.ts'
import { type Server, startBare, startTollgate } from './support/servers.ts'

export const balanceLoad = ({ pid, url, keys }: Server): Load => ({
  pid,
  url: `${url}/v1/balance`,
  keys,
  method: 'GET',
  connections: 50,
  awake: true,
})

export const balance: Benchmark = {
  name: 'balance',
  question: 'GET /v1/balance, 50 connections',
  baseline: 'bare Koa and router, no authentication',
  unit: 'requests/s',
  goal: { atLeast: 0.8 },
  prepare: async () => {
    const bare = await startBare()
    const tollgate = await startTollgate({ profile: 'balance' })
    return {
      baseline: () => putLoad(balanceLoad(bare)),
      measured: () => putLoad(balanceLoad(tollgate)),
      close: async () => {
        await bare.stop()
        await tollgate.stop()
      },
    }
  },
}
