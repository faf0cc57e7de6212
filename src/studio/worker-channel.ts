import { once } from 'node:events'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Semaphore } from '../flow/semaphore.ts'
import type { Turn } from './picture/source.ts'

type Message = 'begun' | 'waits' | 'decoded'

/** The studio's end of a channel to the worker thread. */
export interface Line {
  /** The thread's end. */
  port: MessagePort
  /** Aborts when the work has taken too long. Time in the queue does not count. */
  signal: AbortSignal
  /** Must be called once the work has ended or failed. */
  close(): void
}

export function openChannel(timeLimitMs: number, decoding: Semaphore): Line {
  const { port1: own, port2: port } = new MessageChannel()
  const late = new AbortController()
  const closed = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const turn = async () => {
    own.postMessage('turn')
    await once(own, 'message', { signal: closed.signal })
  }
  own.on('message', (message: Message) => {
    if (message === 'begun') timer = setTimeout(() => late.abort(), timeLimitMs)
    else if (message === 'waits') decoding.run('', '', turn, closed.signal).catch(() => undefined)
  })
  return {
    port,
    signal: late.signal,
    close() {
      clearTimeout(timer)
      closed.abort()
      own.close()
    },
  }
}

/** Reports that the work has begun. Called in the worker thread. */
export const begin = (port: MessagePort) => tell(port, 'begun')

/** Decodes when the studio allows it. Called in the worker thread. */
export const turnVia =
  (port: MessagePort | undefined): Turn =>
  async decode => {
    if (!port) return decode()
    tell(port, 'waits')
    await once(port, 'message')
    try {
      return await decode()
    } finally {
      tell(port, 'decoded')
    }
  }

const tell = (port: MessagePort, message: Message) => port.postMessage(message)
