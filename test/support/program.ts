import { execFileSync } from 'node:child_process'
import { join, relative } from 'node:path'
import { isLong } from './test-length.ts'

/** Removes the modules that the test runner preloads into every Node.js process. */
const plainly = ['/usr/bin/env', '-u', 'NODE_OPTIONS']

/**
 * Most processes of the tests end after a second or two: code is compiled when it runs, and a larger heap is collected
 * less often, which saves them work. In full, the tests run as production does. Each supported version of Node.js knows
 * these options of V8.
 */
const briefly = isLong ? [] : ['--max-lazy', '--min-semi-space-size=16']

/** Node.js and its arguments. What a version of Node.js deprecates, a later one removes: it fails a test already. */
export const node = [...plainly, process.execPath, '--throw-deprecation', ...briefly]

const isCompiled = !import.meta.url.endsWith('.ts')

/** The compiled code that a test belongs to: in the short form, that is the bundle. */
const built = isCompiled ? relative('', join(import.meta.dirname, '..', '..')) : 'dist'

/** A script of the project, run from the project's folder. Compiled, because that halves its start time. */
export const toRun = (script: string): string[] => {
  const compiled = join(built, script.replace(/\.ts$/, '.js'))
  return [...node, '--enable-source-maps', compiled]
}

const compile = () => {
  const [command = '', ...args] = [...plainly, 'node_modules/.bin/tsc', '-p', 'tsconfig.programs.json']
  execFileSync(command, args, { stdio: 'inherit' })
}

// `npm test` compiles everything before it starts.
if (!isCompiled) compile()
