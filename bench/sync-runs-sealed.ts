import type { Benchmark } from './support/compare.ts'
import { putLoad } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

/** A slice of the load. With the three events of each run, it contains a seal. */
const RUNS = 3500

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

const slice = (server: Server) => putLoad({ ...runLoad(server), requests: RUNS })
