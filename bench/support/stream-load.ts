import { startProcess } from './processes.ts'

/** The last character of each token, which occurs nowhere else in a stream. */
export const TOKEN_END = '~'

/** Chats that are streamed at once, each on its own connection. */
export interface StreamLoad {
  url: string
  headers: Record<string, string>
  /** Used in turn. */
  keys: string[]
  body: object
  streams: number
  /** The tokens of each stream. */
  tokens: number
  /** The time over which the streams begin, by default at once. */
  overMs?: number
  /** Whether the tokens say when they were sent. */
  stamped?: boolean
}

export interface StreamResult {
  /** From the first request to the last end. */
  seconds: number
  /** How long tokens took to arrive, if they are stamped. */
  delayMs: { p50: number; p99: number; max: number }
  /** Streams with a token that took longer than MAX_DELAY_MS. */
  late: number
  /** The part of a core that the clients took. */
  cpuShare: number
}

export const MAX_DELAY_MS = 100

/** Reads streams in a separate process. Rejects unless each has all of its tokens. */
export const readStreams = async (load: StreamLoad): Promise<StreamResult> => {
  const { ready } = await startProcess<StreamResult>('stream-clients.js', { args: [JSON.stringify(load)] })
  return ready
}
