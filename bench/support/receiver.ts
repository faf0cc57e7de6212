import type { ChildProcess } from 'node:child_process'
import { on } from 'node:events'
import type { Measurement } from './compare.ts'
import { measureCpu } from './cpu.ts'
import { startProcess, stopProcess } from './processes.ts'

export interface Receiver {
  url: string
  /** Measures a process that sends `count` requests, from the time at which `warmUp` of them have arrived. */
  measure(start: () => Promise<ChildProcess>, size: { count: number; warmUp: number }): Promise<Measurement>
  stop(): Promise<void>
}

/** A server in a separate process that answers every request with 204 and counts them. */
export const startReceiver = async (): Promise<Receiver> => {
  const { child, ready } = await startProcess<{ url: string }>('receiver-process.js')
  return {
    url: ready.url,
    measure: async (start, size) => {
      const messages = on(child, 'message')
      child.send(size)
      const sender = await start()
      await messages.next()
      const measurement = await measureCpu([sender.pid as number], async () => {
        const [{ rate }] = (await messages.next()).value
        return { operations: size.count - size.warmUp, value: rate }
      })
      await messages.return?.()
      await stopProcess(sender)
      return measurement
    },
    stop: () => stopProcess(child),
  }
}
