import { setTimeout as delay } from 'node:timers/promises'
import type { Benchmark, Measurement } from './support/compare.ts'
import { measureCpu } from './support/cpu.ts'
import { type Load, putLoad, sendLoad } from './support/load.ts'
import { type Server, startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

const asyncLoad = (server: Server): Load => ({
  ...runLoad(server),
  body: { model: 'lyria-2', input: { prompt: 'a slow tune for a lighthouse' } },
})

/** Waits until no run is open, so that one round does not slow the next. Resolves to the wait in seconds. */
const drain = async ({ url, keys }: Server): Promise<number> => {
  const headers = { authorization: `Bearer ${keys[0]}` }
  const startedAtMs = performance.now()
  for (const status of ['queued', 'processing'])
    while (true) {
      const answer = await fetch(`${url}/v1/runs?status=${status}&limit=1`, { headers })
      const { data } = (await answer.json()) as { data: unknown[] }
      if (data.length === 0) break
      await delay(50)
    }
  return (performance.now() - startedAtMs) / 1000
}

/** The rate at which runs are accepted and, if asked for, the time in which the service ends those that it left behind. */
const accept = (server: Server, { untilEnded = false } = {}): Promise<Measurement> =>
  measureCpu([server.pid], async () => {
    const { operations, value } = await sendLoad(asyncLoad(server))
    const drainSeconds = await drain(server)
    return { operations, value: untilEnded ? operations / (operations / value + drainSeconds) : value }
  })

const compared = (measure: (server: Server) => Promise<Measurement>, profile: string): Benchmark['prepare'] => {
  return async () => {
    const sync = await startTollgate()
    const async = await startTollgate({ profile })
    return {
      baseline: () => putLoad(runLoad(sync)),
      measured: () => measure(async),
      close: async () => {
        await sync.stop()
        await async.stop()
      },
    }
  }
}

const shared = { baseline: 'sync runs under the same load', unit: 'runs/s' }

export const asyncRuns: Benchmark = {
  ...shared,
  name: 'async-runs',
  question: 'async runs accepted, 50 connections, with an instant provider',
  goal: { atLeast: 1 },
  prepare: compared(accept, 'async-runs'),
}

export const asyncRunsEnded: Benchmark = {
  ...shared,
  name: 'async-runs-ended',
  question: 'async runs accepted and ended, 50 connections, with an instant provider',
  prepare: compared(server => accept(server, { untilEnded: true }), 'async-runs-ended'),
}
