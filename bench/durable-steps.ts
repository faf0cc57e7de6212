import { once } from 'node:events'
import { isInstalled } from '../test/support/outside.ts'
import type { Benchmark, Measurement } from './support/compare.ts'
import { measureCpu } from './support/cpu.ts'
import { withFolder } from './support/folder.ts'
import { SECONDS } from './support/load.ts'
import { missingPostgres, startPostgres } from './support/postgres.ts'
import { startProcess, stopProcess } from './support/processes.ts'

const CALLERS = 50

export const durableSteps: Benchmark = {
  name: 'durable-steps',
  question: `runs accepted and settled by account mailboxes and the embedded log, ${CALLERS} callers`,
  baseline: '@dbos-inc/dbos-sdk with PostgreSQL: workflows of two steps',
  unit: 'runs/s',
  goal: { atLeast: 3 },
  missing: () =>
    missingPostgres() ??
    (isInstalled('dbos') ? undefined : 'DBOS is not installed: npm ci --ignore-scripts --prefix test/outside'),
  prepare: async () => {
    const postgres = await startPostgres()
    const { folder, discard } = await withFolder()
    const dbos = await startSide('dbos', postgres.url)
    const tollgate = await startSide('tollgate', folder)
    return {
      baseline: dbos.measure,
      measured: tollgate.measure,
      close: async () => {
        await tollgate.stop()
        await dbos.stop()
        await postgres.stop()
        await discard()
      },
    }
  },
}

/** One side as a process. `place` is its folder, or the address of its database. */
const startSide = async (name: 'dbos' | 'tollgate', place: string) => {
  const { child } = await startProcess('durable-steps-process.js', {
    args: [name, place, String(CALLERS)],
    ...(process.env['BENCH_PROFILE'] && { profile: `durable-steps-${name}` }),
  })
  const measure = (): Promise<Measurement> =>
    measureCpu([child.pid as number], async () => {
      child.send({ seconds: SECONDS })
      const [result] = await once(child, 'message')
      return result
    })
  return { measure, stop: () => stopProcess(child) }
}
