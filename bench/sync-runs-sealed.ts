import type { Benchmark } from './support/compare.ts'
import { putMeasuredLoad } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

/** A slice of the load, long enough for a seal or two. */
const SECONDS = 2

export const syncRunsSealed: Benchmark = {
  name: 'sync-runs-sealed',
  question: 'sync runs over 50 accounts, 50 connections, while the log is sealed every 10,000 events',
  baseline: 'the same load without a sealer',
  unit: 'runs/s',
  goal: { atLeast: 0.97 },
  roundCount: Number(process.env['BENCH_ROUNDS'] ?? 15),
  prepare: async () => {
    const unsealed = await startTollgate({ accounts: 50, env: { ROLES: 'api,projector,reactors' } })
    const sealed = await startTollgate({ accounts: 50, profile: 'sync-runs-sealed' })
    return {
      baseline: () => slice(unsealed),
      measured: () => slice(sealed),
      close: async () => {
        await unsealed.stop()
        await sealed.stop()
      },
    }
  },
}

const slice = (server: Server) => putMeasuredLoad({ ...runLoad(server), seconds: SECONDS }, server.pid)
