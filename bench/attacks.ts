import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { withFolder } from './support/folder.ts'
import { megabytes } from './support/megabytes.ts'
import { longestResponse, startProber } from './support/prober.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { startBare } from './support/servers.ts'

/** The effect of an attack on the service. */
export interface Attack {
  attack: string
  /** The longest response to a health check meanwhile, in milliseconds. */
  healthMs: number
  /** The same for a bare Koa server, where the attack would delay any server. */
  bareHealthMs?: number
  /** The resident memory at its peak, including that of earlier attacks. */
  peakBytes: number
  /** Files and connections that were still open two seconds later. */
  filesLeftOpen: number
}

const MAX_HEALTH_MS = 100
const MAX_PEAK_BYTES = 600 * 2 ** 20

const ATTACKS = [
  'pipelines',
  'files left open',
  'large JSON',
  'streams',
  'runs whose image hangs',
  'failing runs with webhooks to hosts that hang',
  'connections, one after another',
  'slow requests',
]

/** Node.js accepts one connection at a time, whatever the server does with it. */
const CONNECTIONS = 'connections at once'

/** Attacks the service in several ways while another client checks its health on new connections. */
export const measureAttacks = async (): Promise<Attack[]> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string; keys: string[] }>('tollgate-server.js', {
    args: ['1', 'sandbox'],
    env: { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent', ALLOW_PRIVATE_WEBHOOKS: 'true' },
  })
  const [key = ''] = ready.keys
  const file = await storePicture(ready.url, key)
  const prober = await startProber(`${ready.url}/healthz`, { reusesConnections: false })
  await delay(1_000)
  const before = openFiles(child)
  const results: Attack[] = []
  for (const attack of [...ATTACKS, CONNECTIONS]) {
    const healthMs = await healthDuring(prober, [attack, ready.url, key, file])
    results.push({ attack, healthMs, peakBytes: peakMemory(child), filesLeftOpen: openFiles(child) - before })
  }
  await stopProcess(prober)
  await stopProcess(child)
  await discard()
  const bareHealthMs = await attackBare()
  return results.map(result => (result.attack === CONNECTIONS ? { ...result, bareHealthMs } : result))
}

export const showAttacks = (results: Attack[]) => {
  console.log('attacks: the longest wait of a health check on a new connection, and the memory at its peak')
  for (const { attack, healthMs, bareHealthMs = MAX_HEALTH_MS, peakBytes, filesLeftOpen } of results) {
    const maxMs = Math.max(MAX_HEALTH_MS, bareHealthMs)
    const verdict = healthMs <= maxMs && peakBytes <= MAX_PEAK_BYTES ? 'reached' : 'MISSED'
    console.log(`  ${attack}: ${Math.round(healthMs)} ms, ${megabytes(peakBytes)}, ${filesLeftOpen} files left open`)
    console.log(`    goal at most ${Math.round(maxMs)} ms and ${megabytes(MAX_PEAK_BYTES)}, ${verdict}`)
  }
}

const attackBare = async (): Promise<number> => {
  const bare = await startBare()
  const prober = await startProber(`${bare.url}/healthz`, { reusesConnections: false })
  await delay(1_000)
  const healthMs = await healthDuring(prober, [CONNECTIONS, bare.url])
  await stopProcess(prober)
  await bare.stop()
  return healthMs
}

/** The longest response to the prober during an attack, which has ended for two seconds. */
const healthDuring = async (prober: ChildProcess, attack: string[]): Promise<number> => {
  await longestResponse(prober)
  const { child } = await startProcess('attacker-process.js', { args: attack })
  const healthMs = await longestResponse(prober)
  await stopProcess(child)
  await delay(2_000)
  return healthMs
}

/** Has the service make a picture, and returns the path of its file. */
const storePicture = async (url: string, key: string): Promise<string> => {
  const answer = await fetch(`${url}/v1/run`, {
    ...{ method: 'POST', body: JSON.stringify({ model: 'nano-banana-2', input: { prompt: 'a lake' } }) },
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  const run = (await answer.json()) as { output: { url: string } }
  return new URL(run.output.url).pathname
}

const openFiles = ({ pid }: ChildProcess): number => readdirSync(`/proc/${pid}/fd`).length

const peakMemory = ({ pid }: ChildProcess): number => {
  const [, kilobytes] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
