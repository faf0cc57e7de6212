import type { Benchmark } from './support/compare.ts'
import { putLoad, SECONDS } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

/** Limits that are counted, and never reached. */
const LIMITS = {
  ...{ REQUESTS_PER_MINUTE_PER_KEY: '100000000', REQUESTS_PER_MINUTE_PER_ACCOUNT: '100000000' },
  ...{ RUNS_IN_FLIGHT_PER_KEY: '10000', RUNS_IN_FLIGHT_PER_ACCOUNT: '10000' },
}

export const limits: Benchmark = {
  name: 'limits',
  question:
    'sync runs over 50 accounts, 50 connections, with limits for requests and runs in flight, and keys with budgets',
  baseline: 'the same load without limits and budgets',
  unit: 'runs/s',
  goal: { atLeast: 0.95 },
  roundCount: Number(process.env['BENCH_ROUNDS'] ?? 15),
  prepare: async () => {
    const unlimited = await startTollgate({ accounts: 50 })
    const limited = await startTollgate({ accounts: 50, budget: true, env: LIMITS, profile: 'limits' })
    return {
      baseline: () => slice(unlimited),
      measured: () => slice(limited),
      close: async () => {
        await unlimited.stop()
        await limited.stop()
      },
    }
  },
}

/** The difference is small, so it takes many short rounds to see it. */
const slice = (server: Server) => putLoad({ ...runLoad(server), seconds: SECONDS / 2 })
