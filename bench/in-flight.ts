import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { withFolder } from './support/folder.ts'
import { startProcess, stopProcess } from './support/processes.ts'

export interface InFlight {
  runs: number
  completed: number
  /** Runs that were being worked on at the same time. */
  mostAtOnce: number
  peakResidentBytes: number
  seconds: number
}

const RUNS = Number(process.env['BENCH_IN_FLIGHT_RUNS'] ?? 10_000)

/** Long enough that the last run has begun before the first ends. */
const DELAY_MS = 60_000

/** How often the runs are counted. To list them all is work too, and must not be what is measured. */
const LOOK_MS = 15_000

/** Requests that are under way at a time. */
const AT_A_TIME = 50

const residentBytes = ({ pid }: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** The memory of a service with many async runs of the sandbox in flight at once, and whether all of them complete. */
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
  let asked = 0
  const ask = async () => {
    while (asked++ < RUNS) {
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
  let mostAtOnce = 0
  let completed = 0
  const watching = setInterval(() => {
    peakResidentBytes = Math.max(peakResidentBytes, residentBytes(child))
  }, 500)
  const asking = Promise.all(Array.from({ length: AT_A_TIME }, ask))
  const deadlineMs = startMs + 10 * DELAY_MS
  while (completed < RUNS && performance.now() < deadlineMs) {
    const counts = await count()
    mostAtOnce = Math.max(mostAtOnce, counts.processing)
    completed = counts.completed
    await delay(LOOK_MS)
  }
  await asking
  clearInterval(watching)
  const seconds = (performance.now() - startMs) / 1000
  await stopProcess(child)
  await discard()
  return { runs: RUNS, completed, mostAtOnce, peakResidentBytes, seconds }
}
