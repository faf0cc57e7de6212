import { execFileSync } from 'node:child_process'
import { join, relative } from 'node:path'

/** Removes the modules that the test runner preloads into every Node.js process. */
const plainly = ['/usr/bin/env', '-u', 'NODE_OPTIONS']

/** Node.js and its arguments. What a version of Node.js deprecates, a later one removes: it fails a test already. */
export const node = [...plainly, process.execPath, '--throw-deprecation']

const isCompiled = !import.meta.url.endsWith('.ts')

/** The compiled code that a test belongs to: the bundle, if the test was compiled. */
const built = isCompiled ? relative('', join(import.meta.dirname, '..', '..')) : 'dist/programs'

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
