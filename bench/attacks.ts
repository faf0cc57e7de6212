import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { cpuMsOf } from './support/cpu.ts'
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
  /** The same for a bare Koa server that is not attacked: so long does the machine keep a server waiting. */
  idleHealthMs: number
  /** The resident memory at its peak, including that of earlier attacks, and the anonymous part of it. */
  peakBytes: number
  anonymousBytes: number
  /** The CPU of the service for each request, if the attack counts them. */
  cpuMsPerRequest?: number
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
  'bodies cut off, of one account',
  'bodies cut off, of many accounts',
  'bodies cut off, without a key',
  'answers cut off, of one account',
  'answers cut off, of many accounts',
  'proofs cut off',
]

/** The accounts that attack together. */
const ACCOUNTS = '50'

/** Node.js accepts one connection at a time, whatever the server does with it. */
const CONNECTIONS = 'connections at once'

/** Attacks the service in several ways while another client checks its health on new connections. */
export const measureAttacks = async (): Promise<Attack[]> => {
  const { folder, discard } = await withFolder()
  const { child, ready } = await startProcess<{ url: string; keys: string[] }>('tollgate-server.js', {
    args: [ACCOUNTS, 'sandbox'],
    env: { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent', ALLOW_PRIVATE_WEBHOOKS: 'true' },
  })
  const [key = ''] = ready.keys
  const file = await storePicture(ready.url, key)
  const idle = await startBare()
  const [prober, idleProber] = [await startHealthProber(ready.url), await startHealthProber(idle.url)]
  await delay(1_000)
  const before = openFiles(child)
  const results: Attack[] = []
  for (const attack of [...ATTACKS, CONNECTIONS]) {
    await longestResponse(idleProber)
    const startMs = cpuMsOf(child.pid as number)
    const { healthMs, requests } = await attackedBy([attack, ready.url, ready.keys.join(','), file], prober)
    const cpuMs = cpuMsOf(child.pid as number) - startMs
    results.push({
      ...{ attack, healthMs, idleHealthMs: await longestResponse(idleProber) },
      ...{ peakBytes: memory(child, 'VmHWM'), anonymousBytes: memory(child, 'RssAnon') },
      filesLeftOpen: openFiles(child) - before,
      ...(requests !== undefined && { cpuMsPerRequest: cpuMs / requests }),
    })
  }
  await stopProcess(idleProber)
  await idle.stop()
  await stopProcess(prober)
  await stopProcess(child)
  await discard()
  const bareHealthMs = await attackBare()
  return results.map(result => (result.attack === CONNECTIONS ? { ...result, bareHealthMs } : result))
}

export const showAttacks = (results: Attack[]) => {
  console.log('attacks: the longest wait of a health check on a new connection, and the memory at its peak')
  for (const result of results) {
    const { attack, healthMs, bareHealthMs = MAX_HEALTH_MS, idleHealthMs, peakBytes, filesLeftOpen } = result
    const maxMs = Math.max(MAX_HEALTH_MS, bareHealthMs)
    const verdict = healthMs <= maxMs && peakBytes <= MAX_PEAK_BYTES ? 'reached' : 'MISSED'
    console.log(`  ${attack}: ${Math.round(healthMs)} ms, ${megabytes(peakBytes)}, ${filesLeftOpen} files left open`)
    console.log(`    ${Math.round(idleHealthMs)} ms by an idle server; ${megabytes(result.anonymousBytes)} anonymous`)
    if (result.cpuMsPerRequest !== undefined)
      console.log(`    ${result.cpuMsPerRequest.toFixed(2)} ms of CPU per request`)
    console.log(`    goal at most ${Math.round(maxMs)} ms and ${megabytes(MAX_PEAK_BYTES)}, ${verdict}`)
  }
}

const attackBare = async (): Promise<number> => {
  const bare = await startBare()
  const prober = await startHealthProber(bare.url)
  await delay(1_000)
  const { healthMs } = await attackedBy([CONNECTIONS, bare.url], prober)
  await stopProcess(prober)
  await bare.stop()
  return healthMs
}

const startHealthProber = (url: string) => startProber(`${url}/healthz`, { reusesConnections: false })

/** The longest response to the prober during an attack, which has ended for two seconds. */
const attackedBy = async (attack: string[], prober: ChildProcess): Promise<{ healthMs: number; requests?: number }> => {
  await longestResponse(prober)
  const { child, ready } = await startProcess<{ requests?: number }>('attacker-process.js', { args: attack })
  const healthMs = await longestResponse(prober)
  await stopProcess(child)
  await delay(2_000)
  return { ...ready, healthMs }
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

const memory = ({ pid }: ChildProcess, kind: 'VmHWM' | 'RssAnon'): number => {
  const [, kilobytes] = new RegExp(`${kind}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) * 1024
}
