import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { megabytes } from './support/megabytes.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { startTollgate } from './support/servers.ts'

export interface MediaMemory {
  answers: string
  runs: number
  megabytes: number
  completed: number
  /** The service's own memory at its peak, above what it takes while it is idle. */
  peakBytes: number
  seconds: number
}

/** Large ones, and ordinary ones. A picture may have 64 MB, and an answer two of 50. */
const LOADS = [
  { runs: 24, megabytes: 100, pictures: 2 },
  { runs: 12, megabytes: 20, pictures: 1 },
]

/** The ways in which vendors return files, each with a run that uses it. */
const REQUESTS: Record<string, (pictures: number) => object> = {
  'Base64 in JSON': pictures => ({ model: 'gpt-image-2-6', input: { prompt: 'a fox', num_images: pictures } }),
  'the bytes': () => ({ model: 'eleven-v3', input: { text: 'Hello.' } }),
  'the address of a file': () => ({ model: 'lyria-2', input: { prompt: 'a song' } }),
}

/** The goal: beside an idle service, whatever vendors send. */
const MAX_BYTES = 400 * 2 ** 20

/** Measures the memory of a service while many runs get large files from their vendors at once. */
export const measureMediaMemory = async (): Promise<MediaMemory[]> => {
  const measured: MediaMemory[] = []
  for (const load of LOADS)
    for (const [answers, request] of Object.entries(REQUESTS)) measured.push(await measure(answers, request, load))
  return measured
}

const measure = async (
  answers: string,
  request: (typeof REQUESTS)[string],
  { runs, megabytes, pictures }: (typeof LOADS)[number],
): Promise<MediaMemory> => {
  const { child, ready } = await startProcess<{ url: string }>('media-vendor.js', {
    args: [String(megabytes * 1e6), String(pictures)],
  })
  const tollgate = await startTollgate({
    provider: 'configured',
    env: {
      ...{ OPENAI_API_KEY: 'key', OPENAI_BASE_URL: `${ready.url}/v1` },
      ...{ ELEVENLABS_API_KEY: 'key', ELEVENLABS_BASE_URL: ready.url, FAL_KEY: 'key', FAL_BASE_URL: ready.url },
    },
  })
  const headers = { authorization: `Bearer ${tollgate.keys[0]}`, 'content-type': 'application/json' }
  const statusOf = async (path: string, body?: object): Promise<{ run_id: string; status: string }> => {
    const sent = body && { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(tollgate.url + path, { headers, ...sent })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return (await answer.json()) as { run_id: string; status: string }
  }
  const run = async (): Promise<boolean> => {
    let { run_id, status } = await statusOf('/v1/run', request(pictures))
    while (status === 'queued' || status === 'processing') {
      await delay(500)
      status = (await statusOf(`/v1/runs/${run_id}`)).status
    }
    return status === 'completed'
  }
  const ownBytes = () => {
    const status = readFileSync(`/proc/${tollgate.pid}/status`, 'utf8')
    return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) * 1024
  }
  const idleBytes = ownBytes()
  let peakBytes = 0
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, ownBytes() - idleBytes)
  }, 10)
  const startMs = performance.now()
  const ends = await Promise.all(Array.from({ length: runs }, run))
  const seconds = (performance.now() - startMs) / 1000
  clearInterval(sampling)
  await tollgate.stop()
  await stopProcess(child)
  return { answers, runs, megabytes, completed: ends.filter(Boolean).length, peakBytes, seconds }
}

export const showMediaMemory = (measured: MediaMemory[]) => {
  console.log('media-memory: the memory of a service while many runs get large files at once, above an idle one')
  for (const { answers, runs, completed, peakBytes, seconds, ...each } of measured)
    console.log(
      `  ${runs} runs of ${each.megabytes} MB, ${answers}: ${megabytes(peakBytes)} at the peak, ` +
        `goal under ${megabytes(MAX_BYTES)}${peakBytes < MAX_BYTES ? '' : ', MISSED'}; ` +
        `${completed} completed in ${Math.round(seconds)} s`,
    )
}
