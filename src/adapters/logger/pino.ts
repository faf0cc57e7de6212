import { pino } from 'pino'
import type { Logger } from '../../ports/logger.ts'

/** Lines are written some at a time, since a write for each would cost more than the request it tells of. */
const BUFFER_BYTES = 4096
/** The longest that a line waits for its write. */
const FLUSH_MS = 200

/** What an API key looks like, whatever its prefix. */
const API_KEY = /_sk_(live_)?[0-9a-f]{8,}/g

/**
 * Lines of JSON on a file descriptor, standard output by default. Nobody logs a key on purpose, but it can be part of a
 * path or of an error's message, so it is struck out of the finished line.
 */
export const createLogger = (level: string, descriptor = 1): Logger => {
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
