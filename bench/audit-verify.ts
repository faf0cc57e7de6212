import { join } from 'node:path'
import { open } from 'lmdb'
import { openLmdbEventLogReadOnly } from '../src/adapters/event-log/lmdb-read-only.ts'
import { verifyLog } from '../src/audit/verify/verify.ts'
import { verifyWithWorkers } from '../src/cli/audit/verify-workers.ts'
import type { Benchmark } from './support/compare.ts'
import { measureOwnCpu } from './support/cpu.ts'
import { withFolder } from './support/folder.ts'
import { writeSealedLog } from './support/sealed-log.ts'

const RUNS = 50_000
const ACCOUNTS = 100

export const auditVerify: Benchmark = {
  name: 'audit-verify',
  question: '`tollgate audit verify` of a sealed log, events/s',
  baseline: 'raw lmdb range scan of the same records, each parsed as JSON',
  unit: 'events/s',
  goal: { atLeast: 0.25 },
  prepare: async () => {
    const { folder, discard } = await withFolder()
    await writeSealedLog(folder, { runs: RUNS, accounts: ACCOUNTS })
    const raw = open({ path: join(folder, 'log'), readOnly: true, maxDbs: 16 }).openDB<string, number>('entries', {
      encoding: 'string',
    })
    const scan = async () => {
      let events = 0
      for (const { value } of raw.getRange({})) if (Array.isArray(JSON.parse(value))) events += 1
      return events
    }
    const log = openLmdbEventLogReadOnly(join(folder, 'log'))
    const verify = async () => {
      const verification = await verifyLog(log, { isDense: true })
      const { events = 0, faults = [] } = verification ?? {}
      if (faults.length > 0) throw new Error(`${faults.length} faults: ${JSON.stringify(faults[0])}`)
      return events
    }
    return {
      baseline: () => measureOwnCpu(scan),
      measured: () => measureOwnCpu(verify),
      close: async () => {
        await raw.close()
        await log.close()
        await discard()
      },
    }
  },
}

export const auditVerifyWorkers: Benchmark = {
  name: 'audit-verify-workers',
  question: '`tollgate audit verify` of a sealed log with two workers, events/s',
  baseline: 'the same with one worker',
  unit: 'events/s',
  prepare: async () => {
    const { folder, discard } = await withFolder()
    await writeSealedLog(folder, { runs: RUNS, accounts: ACCOUNTS })
    const log = openLmdbEventLogReadOnly(join(folder, 'log'))
    // The other worker finds the log as commands do.
    process.env['DATA_DIR'] = folder
    const verifyWith = (workers: number) => async () => {
      const startMs = performance.now()
      const { events, faults } = await verifyWithWorkers(log, { workers, file: undefined, isDense: true })
      if (faults.length > 0) throw new Error(`${faults.length} faults: ${JSON.stringify(faults[0])}`)
      return events / ((performance.now() - startMs) / 1000)
    }
    return {
      baseline: verifyWith(1),
      measured: verifyWith(2),
      close: async () => {
        delete process.env['DATA_DIR']
        await log.close()
        await discard()
      },
    }
  },
}
