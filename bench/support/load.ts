import type { Measurement } from './compare.ts'
import { cpuMsOf, idle } from './cpu.ts'
import { startProcess } from './processes.ts'

export interface Load {
  url: string
  connections: number
  seconds: number
  /** Sends so many requests, however long they take. */
  requests?: number
  method: 'GET' | 'POST'
  /** Assigned to the connections in turn. */
  keys?: string[]
  /** In addition to the headers for the key and the body. */
  headers?: Record<string, string>
  /** Sent as JSON. Alternatively, a file is sent unchanged with its type. */
  body?: object
  file?: { path: string; type: string }
  /**
   * Keeps the load generator busy. On a virtual machine, waking a sleeping core for each response costs a fast server
   * more than the response. Do not set it for servers with worker threads, which need the core more.
   */
  awake?: boolean
}

/** Puts load on a server from a separate process. Resolves to responses per second; rejects if any was not 2xx. */
export const putLoad = async (load: Load): Promise<number> => {
  const { ready } = await startProcess<{ successesPerSecond: number; failures: number }>('load-generator.js', {
    args: [JSON.stringify(load)],
  })
  if (ready.failures > 0) throw new Error(`${ready.failures} requests to ${load.url} failed`)
  return ready.successesPerSecond
}

/**
 * The same, with the CPU time that the server takes for each response, including what it does after the last one. It must
 * do nothing else meanwhile.
 */
export const putMeasuredLoad = async (load: Load, pid: number): Promise<Measurement> => {
  const startMs = cpuMsOf(pid)
  const value = await putLoad(load)
  await idle(pid)
  return { value, cpuMicrosPerOperation: ((cpuMsOf(pid) - startMs) * 1000) / (value * load.seconds) }
}
