import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'

export interface Memory {
  runs: number
  /** What the process holds for itself. */
  ownBytes: number
  /** That and the pages of the stores' files that are mapped, which the system takes back when it needs them. */
  residentBytes: number
}

const RUNS = Number(process.env['BENCH_MEMORY_RUNS'] ?? 1_000_000)

/** The memory of a process of its own that has written and projected the events of many runs. */
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
