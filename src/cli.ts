#!/usr/bin/env node
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UNABLE } from './cli/operator-error.ts'
import { runProgram } from './cli/program.ts'

// A key is shown only once, so a command whose output is lost must not seem to succeed. A reader like `head` may leave.
let unwritten: Error | undefined
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') unwritten = error
})
const code = await runProgram(process.argv.slice(2))
await nextTurn()
if (unwritten && code === 0) console.error(`The output cannot be written: ${unwritten.message}.`)
// A connection attempt to a store that drops packets would keep the process alive for minutes.
process.exit(code || (unwritten ? UNABLE : 0))
