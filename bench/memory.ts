import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'

export interface Memory {
  runs: number
  /** Private memory of the process. */
  ownBytes: number
  /** Private memory plus mapped pages of the stores' files, which the system can reclaim. */
  residentBytes: number
}

const RUNS = Number(process.env['BENCH_MEMORY_RUNS'] ?? 1_000_000)

/** Measures a separate process that has written and projected the events of many runs. */
export const measureMemory = async (): Promise<Memory> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<Memory>('memory-process.js', {
    args: [String(RUNS)],
    env: { DATA_DIR: folder, LOG_LEVEL: 'silent' },
  })
  await stopProcess(child)
  await discard()
  return ready
}
