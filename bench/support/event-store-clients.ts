import { once } from 'node:events'
import type { Measurement } from './compare.ts'
import type { Job } from './event-store-client-process.ts'
import { startProcess, stopProcess } from './processes.ts'

/** One side of the comparison, as a process of its own that keeps its connection from round to round. */
export interface Client {
  append(job: { writers: number; appends: number }): Promise<Measurement>
  /** What is written from now on is what `replay` reads. */
  mark(): Promise<void>
  /** Rejects when fewer events were handed over. */
  replay(job: { atLeast: number }): Promise<Measurement>
}

export interface Clients {
  tollgate: Client
  vendor: Client
  stop(): Promise<void>
}

/** Both sides; only one of them works at a time. */
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
    // The address may hold a password, which the arguments of a process would show.
    env: { EVENT_STORE_URL: url },
    ...(process.env['BENCH_PROFILE'] && { profile: `event-store-${side}` }),
  })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the ${side} client ended with ${code}`)))
  ended.catch(() => undefined)
  const ask = async (job: Job) => {
    const answered = once(child, 'message').then(([answer]) => answer)
    child.send(job)
    return Promise.race([answered, ended])
  }
  return {
    append: job => ask({ type: 'append', ...job }),
    mark: () => ask({ type: 'mark' }),
    replay: job => ask({ type: 'replay', ...job }),
    stop: () => stopProcess(child),
  }
}
