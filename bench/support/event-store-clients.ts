import { once } from 'node:events'
import type { Measurement } from './compare.ts'
import type { Job } from './event-store-client-process.ts'
import { startProcess, stopProcess } from './processes.ts'

/** One side of the comparison, in its own process, which keeps its connection between rounds. */
export interface Client {
  append(job: { writers: number; appends: number }): Promise<Measurement>
  /** `replay` reads the events written from now on. */
  mark(): Promise<void>
  /** Rejects if fewer events were delivered. */
  replay(job: { atLeast: number }): Promise<Measurement>
}

export interface Clients {
  tollgate: Client
  vendor: Client
  stop(): Promise<void>
}

/** Starts both sides. Only one of them works at a time. */
export const startClients = async (url: string): Promise<Clients> => {
  const [tollgate, vendor] = await Promise.all([start('tollgate', url), start('vendor', url)])
  const stop = async () => {
    await Promise.all([tollgate.stop(), vendor.stop()])
  }
  return { tollgate, vendor, stop }
}

const start = async (side: 'tollgate' | 'vendor', url: string): Promise<Client & { stop(): Promise<void> }> => {
  const { child } = await startProcess('event-store-client-process.js', {
    args: [side],
    // The address may contain a password, which command-line arguments would reveal.
    env: { EVENT_STORE_URL: url },
    ...(process.env['BENCH_PROFILE'] && { profile: `event-store-${side}` }),
  })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the ${side} client ended with ${code}`)))
  ended.catch(() => undefined)
  const perform = async (job: Job) => {
    const reply = once(child, 'message').then(([message]) => message)
    child.send(job)
    return Promise.race([reply, ended])
  }
  return {
    append: job => perform({ type: 'append', ...job }),
    mark: () => perform({ type: 'mark' }),
    replay: job => perform({ type: 'replay', ...job }),
    stop: () => stopProcess(child),
  }
}
