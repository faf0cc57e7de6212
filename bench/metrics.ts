import type { Benchmark } from './support/compare.ts'
import { putLoad, SECONDS } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

export const metrics: Benchmark = {
  name: 'metrics',
  question: 'sync runs over 50 accounts, 50 connections, with METRICS_PORT',
  baseline: 'the same load without METRICS_PORT',
  unit: 'runs/s',
  cpuGoal: { atMost: 1.01 },
  roundCount: Number(process.env['BENCH_ROUNDS'] ?? 31),
  prepare: async () => {
    const unmeasured = await startTollgate({ accounts: 50 })
    const measured = await startTollgate({ accounts: 50, env: { METRICS_PORT: '0' }, profile: 'metrics' })
    return {
      baseline: () => slice(unmeasured),
      measured: () => slice(measured),
      close: async () => {
        await unmeasured.stop()
        await measured.stop()
      },
    }
  },
}

/** The difference is small, so it takes many short rounds to see it. */
const slice = (server: Server) => putLoad({ ...runLoad(server), seconds: SECONDS / 2 })
