import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { cpuMsOf } from './support/cpu.ts'
import { withFolder } from './support/folder.ts'
import { longestResponse, startProber } from './support/prober.ts'
import { startProcess, stopProcess } from './support/processes.ts'
import { type WorstRequest, worstRequests } from './support/worst-requests.ts'

export interface Stall {
  requests: number
  /** The longest response to the prober without other requests, in milliseconds. */
  idleMs: number
  /** The requests that hold the service longest, the longest first. */
  worst: { name: string; status: number; longestMs: number; cpuMs: number }[]
}

/** Each request is sent this many times, so that the code is warm and one slice of another process counts little. */
const REPEATS = 8
const SHOWN = 12

/** Measures how long each of the worst requests delays another client. */
export const measureStall = async (): Promise<Stall> => {
  const { folder, discard } = await withFolder()
  const server = await startProcess<{ url: string; keys: string[] }>('tollgate-server.js', {
    env: { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'silent' },
  })
  const { url, keys } = server.ready
  const pid = server.child.pid as number
  const prober = await startProber(`${url}/healthz`)
  const dispatcher = new Agent()
  const send = async ({ method, path, headers, body }: WorstRequest): Promise<number> => {
    const authorization = `Bearer ${keys[0]}`
    const answer = await request(url + path, {
      ...{ dispatcher, method, headers: { ...headers, authorization } },
      ...(body !== undefined && { body }),
    })
    await answer.body.dump()
    return answer.statusCode
  }
  const results: Stall['worst'] = []
  await delay(1_000)
  await longestResponse(prober)
  await delay(3_000)
  const idleMs = await longestResponse(prober)
  for (const worst of worstRequests) {
    await longestResponse(prober)
    const startMs = cpuMsOf(pid)
    let status = 0
    for (let repeat = 0; repeat < REPEATS; repeat++) status = await send(worst)
    const cpuMs = (cpuMsOf(pid) - startMs) / REPEATS
    results.push({ name: worst.name, status, longestMs: await longestResponse(prober), cpuMs })
  }
  await dispatcher.close()
  await stopProcess(prober)
  await stopProcess(server.child)
  await discard()
  const worst = results.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(0, SHOWN)
  return { requests: results.length, idleMs, worst }
}

export const showStall = ({ requests, idleMs, worst }: Stall) => {
  console.log(`stall: ${requests} of the most expensive requests, while another client requests /healthz`)
  console.log(`  its longest wait is ${Math.round(idleMs)} ms alone, and in ms of wait and of CPU per request:`)
  for (const { name, status, longestMs, cpuMs } of worst)
    console.log(`  ${Math.round(longestMs)} and ${Math.round(cpuMs)}: ${name} (${status})`)
}
