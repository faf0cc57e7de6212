import { withFolder } from './support/folder.ts'
import { megabytes } from './support/megabytes.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { writeSealedLog } from './support/sealed-log.ts'

export interface VerifierMemory {
  events: number
  /** Resident memory at its peak, with the mapped pages of the log. */
  peakResidentBytes: number
}

/** With the three events of each, about 1,000,000 events. */
const RUNS = Number(process.env['BENCH_VERIFIED_RUNS'] ?? 333_000)

/** Measures a separate process that verifies a large log as one worker. */
export const measureVerifierMemory = async (): Promise<VerifierMemory> => {
  const { folder, discard } = await withFolder()
  await writeSealedLog(folder, { runs: RUNS, accounts: 1000 })
  const { child, ready } = await startProcess<VerifierMemory>('verifier-process.js', { args: [folder] })
  await stopProcess(child)
  await discard()
  return ready
}

export const showVerifierMemory = ({ events, peakResidentBytes }: VerifierMemory) => {
  console.log(`verifier-memory: \`tollgate audit verify\` of ${events.toLocaleString('en')} events in one process`)
  console.log(`  ${megabytes(peakResidentBytes)} resident at the peak, goal under 300 MB`)
}
