import type { Benchmark } from './support/compare.ts'
import { putLoad, SECONDS } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

export const lots: Benchmark = {
  name: 'lots',
  question: 'sync runs of an account with 100 lots of credits, 50 connections',
  baseline: 'the same load on an account with one lot',
  unit: 'runs/s',
  goal: { atLeast: 0.95 },
  roundCount: Number(process.env['BENCH_ROUNDS'] ?? 15),
  prepare: async () => {
    const one = await startTollgate()
    const many = await startTollgate({ env: { BENCH_LOTS: '100' }, profile: 'lots' })
    return {
      baseline: () => slice(one),
      measured: () => slice(many),
      close: async () => {
        await one.stop()
        await many.stop()
      },
    }
  },
}

/** The difference is small, so it takes many short rounds to see it. */
const slice = (server: Server) => putLoad({ ...runLoad(server), seconds: SECONDS / 2 })
