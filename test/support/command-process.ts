import { runProgram } from '../../src/cli/program.ts'
import type { Command, CommandEnd } from './command-runner.ts'

// Runs commands of the command line, one after another.

const run = async ({ args, env }: Command): Promise<CommandEnd> => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.exitCode = undefined
  const written = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (text: string | Uint8Array, ...[encoding, done]: unknown[]) => {
      written[name] += text
      for (const call of [encoding, done]) if (typeof call === 'function') call()
      return true
    }
  return { code: await runProgram(args), ...written }
}

let last: Promise<unknown> = Promise.resolve()
process.on('message', ({ id, ...command }: Command & { id: number }) => {
  last = last.then(() => run(command)).then(end => process.send?.({ id, ...end }))
})
