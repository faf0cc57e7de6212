import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Programs are started without what the runner of the tests would have every process of Node.js load first. */
const plainly = ['/usr/bin/env', '-u', 'NODE_OPTIONS']

/** Node.js, before its own arguments. */
export const node = [...plainly, process.execPath]

/** A script of the project, from the project's folder: it is compiled, and so starts in half the time. */
export const toRun = (script: string): string[] => {
  const compiled = join('dist', script.replace(/\.ts$/, '.js'))
  return [...node, '--enable-source-maps', compiled]
}

const compile = () => {
  const [command = '', ...args] = [...plainly, 'node_modules/.bin/tsc', '-p', 'tsconfig.programs.json']
  execFileSync(command, args, { stdio: 'inherit' })
}

// The runner of the tests has this file do it once, before all of them; whoever is compiled has been so with all the rest.
const isFirst = process.argv[1] === fileURLToPath(import.meta.url)
if (isFirst || (process.env['TAP'] === undefined && import.meta.url.endsWith('.ts'))) compile()
