#!/usr/bin/env node
import { runProgram } from './cli/program.ts'

// A connection attempt to a store that drops packets would keep the process alive for minutes.
process.exit(await runProgram(process.argv.slice(2)))
