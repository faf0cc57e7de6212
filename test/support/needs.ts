import { isInstalled } from './server-program.ts'

/** The tap options of a test that may not be able to run on every machine. */
export interface Needs {
  skip: string | false
}

/**
 * Skips a test with a reason, such as a missing program. With `CI` set, the test runs and fails instead, because CI
 * must run every test.
 */
export const skipUnlessCi = (reason: string | false): Needs => ({ skip: !process.env['CI'] && reason })

/** The tap options of a test that runs these programs. */
export const needsPrograms = (...programs: string[]): Needs => {
  const missing = programs.filter(program => !isInstalled(program))
  return skipUnlessCi(missing.length > 0 && `not installed: ${missing.join(', ')}`)
}
