import { readFileSync } from 'node:fs'
import { sendLoad } from './support/load.ts'
import { megabytes } from './support/megabytes.ts'
import { startTollgate } from './support/servers.ts'
import { runLoad } from './sync-runs.ts'

export interface Memory {
  runs: number
  /** After each part of the runs, without the mapped pages of the stores' files, which the system can reclaim. */
  ownBytes: number[]
  /** With these pages, in the end. */
  residentBytes: number
  /** How fast the service's own memory grows over the second half of the runs. */
  bytesPerRun: number
}

const RUNS = Number(process.env['BENCH_MEMORY_RUNS'] ?? 100_000)
const PARTS = 20

/** The goal: what a service may grow by, and after how many runs the jumps of the collector do not decide about it. */
const MAX_GROWTH_BYTES = 2 ** 20
const GROWTH_RUNS = 100_000
const MIN_RUNS = 1_000_000

/** Measures the memory of a service while it does many sync runs. */
export const measureMemory = async (): Promise<Memory> => {
  const tollgate = await startTollgate({ accounts: 50, profile: 'memory' })
  const status = () => readFileSync(`/proc/${tollgate.pid}/status`, 'utf8')
  const bytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status())?.[1]) * 1024
  const ownBytes: number[] = []
  while (ownBytes.length < PARTS) {
    await sendLoad({ ...runLoad(tollgate), requests: RUNS / PARTS })
    ownBytes.push(bytes('RssAnon'))
  }
  const residentBytes = bytes('VmRSS')
  await tollgate.stop()
  return { runs: RUNS, ownBytes, residentBytes, bytesPerRun: slopeOf(ownBytes.slice(PARTS / 2)) / (RUNS / PARTS) }
}

export const showMemory = ({ runs, ownBytes, residentBytes, bytesPerRun }: Memory) => {
  const growth = bytesPerRun * GROWTH_RUNS
  const [half, end] = [ownBytes[PARTS / 2 - 1] ?? 0, ownBytes.at(-1) ?? 0]
  const verdict = runs < MIN_RUNS ? '' : growth < MAX_GROWTH_BYTES ? ', reached' : ', MISSED'
  console.log(`memory: a service that did ${runs.toLocaleString('en')} sync runs`)
  console.log(
    `  ${megabytes(half)} of its own after half of them, ${megabytes(end)} in the end, ` +
      `${megabytes(residentBytes)} with mapped files`,
  )
  console.log(
    `  over the second half, it grew by ${(growth / 2 ** 20).toFixed(1)} MB per ${GROWTH_RUNS.toLocaleString('en')} runs, ` +
      `goal under ${megabytes(MAX_GROWTH_BYTES)} over ${MIN_RUNS.toLocaleString('en')} runs${verdict}\n`,
  )
}

/** Of the line that fits best, by least squares. */
const slopeOf = (values: number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const middle = (values.length - 1) / 2
  const covariance = values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0)
  return covariance / values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0)
}
