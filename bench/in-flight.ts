import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { withFolder } from './support/folder.ts'
import { megabytes } from './support/megabytes.ts'
import { startProcess, stopProcess } from './support/processes.ts'

export interface InFlight {
  runs: number
  completed: number
  /** The maximum of runs in flight at the same time. */
  maxInFlight: number
  peakResidentBytes: number
  seconds: number
}

const RUNS = Number(process.env['BENCH_IN_FLIGHT_RUNS'] ?? 10_000)

/** Long enough that all runs start before the first ends. */
const DELAY_MS = 60_000

/** How often the runs are counted. Rarely, because listing all of them is work too. */
const COUNT_EVERY_MS = 15_000

/** Concurrent requests. */
const CONCURRENCY = 50

const residentBytes = ({ pid }: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** Measures the memory of a service with many sandbox runs in flight, and whether all of them complete. */
export const measureInFlight = async (): Promise<InFlight> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string; keys: string[] }>('tollgate-server.js', {
    args: ['1', 'sandbox'],
    env: { DATA_DIR: folder, PORT: '0' },
  })
  const headers = { authorization: `Bearer ${ready.keys[0]}`, 'content-type': 'application/json' }
  const input = { prompt: 'a lighthouse', image_url: 'https://example.com/a.png', delay_ms: DELAY_MS }
  const body = JSON.stringify({ model: 'sandbox', input })
  const startMs = performance.now()
  let sent = 0
  const sendRuns = async () => {
    while (sent++ < RUNS) {
      const answer = await fetch(`${ready.url}/v1/run`, { method: 'POST', headers, body })
      if (answer.status !== 202) throw new Error(`${answer.status} ${await answer.text()}`)
      await answer.arrayBuffer()
    }
  }
  const count = async () => {
    const counts = { processing: 0, completed: 0 } as Record<string, number>
    let cursor = ''
    while (true) {
      const answer = await fetch(`${ready.url}/v1/runs?limit=100${cursor}`, { headers })
      const page = (await answer.json()) as { data: { status: string }[]; next_cursor: string | null }
      for (const { status } of page.data) counts[status] = (counts[status] ?? 0) + 1
      if (page.next_cursor === null) return counts as { processing: number; completed: number }
      cursor = `&cursor=${page.next_cursor}`
    }
  }

  let peakResidentBytes = 0
  let maxInFlight = 0
  let completed = 0
  const sampling = setInterval(() => {
    peakResidentBytes = Math.max(peakResidentBytes, residentBytes(child))
  }, 500)
  const sending = Promise.all(Array.from({ length: CONCURRENCY }, sendRuns))
  const deadlineMs = startMs + 10 * DELAY_MS
  while (completed < RUNS && performance.now() < deadlineMs) {
    const counts = await count()
    maxInFlight = Math.max(maxInFlight, counts.processing)
    completed = counts.completed
    await delay(COUNT_EVERY_MS)
  }
  await sending
  clearInterval(sampling)
  const seconds = (performance.now() - startMs) / 1000
  await stopProcess(child)
  await discard()
  return { runs: RUNS, completed, maxInFlight, peakResidentBytes, seconds }
}

export const showInFlight = ({ runs, completed, maxInFlight, peakResidentBytes, seconds }: InFlight) => {
  console.log(`in-flight: ${runs.toLocaleString('en')} async runs of the sandbox with a delay`)
  console.log(
    `  ${completed.toLocaleString('en')} completed in ${Math.round(seconds)} s, ` +
      `up to ${maxInFlight.toLocaleString('en')} at once, ${megabytes(peakResidentBytes)} resident at the peak`,
  )
}
