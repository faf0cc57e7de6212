import { createRequire } from 'node:module'
import { isatty } from 'node:tty'
import { pino } from 'pino'
import type PinoPretty from 'pino-pretty'
import { visible } from '../../domain/visible-text.ts'
import type { Logger } from '../../ports/logger.ts'

/** Lines are buffered: one write per line would cost more than the request it describes. */
const BUFFER_BYTES = 4096
/** The longest time that a line stays in the buffer. */
const FLUSH_MS = 200

/** A key of an account or an auditor, with any prefix. */
const API_KEY = /_(sk_live|sk_test|sk|ak)_[0-9a-f]{8,}/g

/** A logger that can tell when its lines are written. */
export interface BufferedLogger extends Logger {
  /** Calls back once all lines are written, or cannot be. */
  flush(written: () => void): void
}

/**
 * Writes to a file descriptor, standard output by default: text to a terminal, else JSON lines. An API key can slip in
 * through a path or an error message, so keys are redacted in the finished line.
 */
export const createLogger = (level: string, descriptor = 1): BufferedLogger => {
  const destination = pino.destination({ fd: descriptor, sync: false, minLength: BUFFER_BYTES })
  setInterval(() => destination.flush(), FLUSH_MS).unref()
  const formed = isatty(descriptor) ? textOf() : (line: string) => line
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: line => formed(line.replace(API_KEY, '_$1_[redacted]')) },
    },
    destination,
  )
}

/** Returns a function that makes a line for a terminal. Its texts may come from clients and vendors. */
const textOf = (): ((line: string) => string) => {
  // Loaded only for a terminal.
  const { prettyFactory }: typeof PinoPretty = createRequire(import.meta.url)('pino-pretty')
  const pretty = prettyFactory({ singleLine: true, translateTime: 'SYS:HH:MM:ss.l' })
  return line => pretty(JSON.parse(line, (_, value) => (typeof value === 'string' ? visible(value) : value)))
}
