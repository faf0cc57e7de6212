import { pino } from 'pino'
import type { Logger } from '../../ports/logger.ts'

/** Lines are buffered: one write per line would cost more than the request it describes. */
const BUFFER_BYTES = 4096
/** The longest time that a line stays in the buffer. */
const FLUSH_MS = 200

/** An API key with any prefix. */
const API_KEY = /_sk_(live_)?[0-9a-f]{8,}/g

/** A logger that can tell when its lines are written. */
export interface BufferedLogger extends Logger {
  /** Calls back once all lines are written, or cannot be. */
  flush(written: () => void): void
}

/**
 * Writes JSON lines to a file descriptor, standard output by default. An API key can slip in through a path or an error
 * message, so keys are redacted in the finished line.
 */
export const createLogger = (level: string, descriptor = 1): BufferedLogger => {
  const destination = pino.destination({ fd: descriptor, sync: false, minLength: BUFFER_BYTES })
  setInterval(() => destination.flush(), FLUSH_MS).unref()
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: line => (line.includes('_sk_') ? line.replace(API_KEY, '_sk_[redacted]') : line) },
    },
    destination,
  )
}
