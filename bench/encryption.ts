import type { Benchmark } from './support/compare.ts'
import { putLoad, SECONDS } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

export const encryption: Benchmark = {
  name: 'encryption',
  question: 'sync runs over 50 accounts, 50 connections, whose personal data is encrypted',
  baseline: 'the same load without encryption',
  unit: 'runs/s',
  goal: { atLeast: 0.95 },
  roundCount: Number(process.env['BENCH_ROUNDS'] ?? 15),
  prepare: async () => {
    const plain = await startTollgate({ accounts: 50, env: { BENCH_PLAIN: 'on' } })
    const encrypted = await startTollgate({ accounts: 50, profile: 'encryption' })
    return {
      baseline: () => slice(plain),
      measured: () => slice(encrypted),
      close: async () => {
        await plain.stop()
        await encrypted.stop()
      },
    }
  },
}

/** The difference is small, so it takes many short rounds to see it. */
const slice = (server: Server) => putLoad({ ...runLoad(server), seconds: SECONDS / 2 })
