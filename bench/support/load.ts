import type { Measurement } from './compare.ts'
import { measureCpu } from './cpu.ts'
import { startProcess } from './processes.ts'

/** How long a round of a load takes. */
export const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4)

export interface Load {
  /** The server's process. */
  pid: number
  url: string
  connections: number
  /** By default, SECONDS. */
  seconds?: number
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

/** Responses per second, and the server's CPU time for each, including what it does after the last one. */
export const putLoad = (load: Load): Promise<Measurement> => measureCpu([load.pid], () => sendLoad(load))

/** Puts load on a server from a separate process. Resolves to responses per second; rejects if any was not 2xx. */
export const sendLoad = async (load: Load): Promise<{ operations: number; value: number }> => {
  const { ready } = await startProcess<{ successes: number; seconds: number; failures: number }>('load-generator.js', {
    args: [JSON.stringify({ seconds: SECONDS, ...load })],
  })
  if (ready.failures > 0) throw new Error(`${ready.failures} requests to ${load.url} failed`)
  if (ready.successes === 0) throw new Error(`no request to ${load.url} was answered in time`)
  return { operations: ready.successes, value: ready.successes / ready.seconds }
}
