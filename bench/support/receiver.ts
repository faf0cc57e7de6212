import { once } from 'node:events'
import { startProcess, stopProcess } from './processes.ts'

export interface Receiver {
  url: string
  /** Counts requests up to `count`, then resolves to their rate per second. */
  rateOf(count: number): Promise<number>
  stop(): Promise<void>
}

/** A server in a separate process that answers every request with 204 and counts them. */
export const startReceiver = async (): Promise<Receiver> => {
  const { child, ready } = await startProcess<{ url: string }>('receiver-process.js')
  return {
    url: ready.url,
    rateOf: async count => {
      child.send({ count })
      const [{ rate }] = await once(child, 'message')
      return rate
    },
    stop: () => stopProcess(child),
  }
}
