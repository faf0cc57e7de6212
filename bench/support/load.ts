import { startProcess } from './processes.ts'

export interface Load {
  url: string
  connections: number
  seconds: number
  method: 'GET' | 'POST'
  /** One for each connection, in turn. */
  keys?: string[]
  /** Beside those of the key and of the body. */
  headers?: Record<string, string>
  /** Sent as JSON; or a file that is sent as it is, under its type. */
  body?: object
  file?: { path: string; type: string }
  /**
   * Never sleeps. A sleeping core must be woken for each answer, which on a virtual machine costs a quick server more than
   * the answer does. A server with threads of its own at work needs the core more.
   */
  awake?: boolean
}

/** Puts load on a server from a process of its own. Resolves to the answers a second; rejects if any was not 2xx. */
export const putLoad = async (load: Load): Promise<number> => {
  const { ready } = await startProcess<{ answersPerSecond: number; bad: number }>('load-generator.js', {
    args: [JSON.stringify(load)],
  })
  if (ready.bad > 0) throw new Error(`${ready.bad} requests to ${load.url} went wrong`)
  return ready.answersPerSecond
}
