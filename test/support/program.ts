import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

/** Removes the modules that the test runner preloads into every Node.js process. */
const plainly = ['/usr/bin/env', '-u', 'NODE_OPTIONS']

/**
 * Node.js and its arguments. Most processes of the tests end after a second or two: code is optimized later, and a larger
 * heap is collected less often, which saves a quarter of their work.
 */
export const node = [...plainly, process.execPath, '--interrupt-budget=1000000', '--min-semi-space-size=16']

/** A script of the project, run from the project's folder. Compiled, because that halves its start time. */
export const toRun = (script: string): string[] => {
  const compiled = join('dist', script.replace(/\.ts$/, '.js'))
  return [...node, '--enable-source-maps', compiled]
}

const compile = () => {
  const [command = '', ...args] = [...plainly, 'node_modules/.bin/tsc', '-p', 'tsconfig.programs.json']
  execFileSync(command, args, { stdio: 'inherit' })
}

// `npm test` compiles everything before it starts.
if (import.meta.url.endsWith('.ts')) compile()
