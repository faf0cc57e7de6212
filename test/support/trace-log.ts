import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { createLogger } from '../../src/adapters/logger/pino.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { until } from './until.ts'

/** A logger that writes all that a service ever logs, and what it wrote, once this matches a pattern. */
export const traceLog = async (t: Test) => {
  const path = join(await temporaryFolder(t), 'log')
  const logged = (pattern: RegExp) =>
    until('the lines are written', async () => {
      const lines = await readFile(path, 'utf8')
      return pattern.test(lines) && lines
    })
  // The file stays open, since the logger writes whenever it likes.
  return { logger: createLogger('trace', openSync(path, 'w')), logged }
}
