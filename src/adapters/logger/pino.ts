import { pino } from 'pino'
import type { Logger } from '../../ports/logger.ts'

/** Lines of JSON on a file descriptor, standard output by default. Nobody logs a key on purpose; what slips in under such a name is struck out. */
export const createLogger = (level: string, descriptor = 1): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: [
        'authorization',
        '*.authorization',
        '*.headers.authorization',
        'apiKey',
        '*.apiKey',
        'secret',
        '*.secret',
      ],
    },
    pino.destination({ fd: descriptor, sync: false }),
  )
