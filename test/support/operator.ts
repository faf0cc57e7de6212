import type { Test } from 'tap'
import { type CommandEnd, runCommand } from './command-runner.ts'

/** Runs commands of the command line on the stores in a folder, in another process than the test. */
export interface Operator {
  run(...args: string[]): Promise<CommandEnd>
  /** Runs a command that must succeed, and parses the JSON that it prints. */
  json<Printed>(t: Test, ...args: string[]): Promise<Printed>
  /** Runs a command that must succeed, and returns its output. */
  text(t: Test, ...args: string[]): Promise<string>
  /** Runs a command that must fail, and returns its error message. */
  refused(t: Test, ...args: string[]): Promise<string>
}

export const operatorOf = (folder: string, environment: Record<string, string> = {}): Operator => {
  const env = { DATA_DIR: folder, ...environment }
  const run = (...args: string[]) => runCommand({ args, env })
  const succeed = async (t: Test, ...args: string[]) => {
    const { code, stdout, stderr } = await run(...args)
    t.same({ code, stderr }, { code: 0, stderr: '' }, args.join(' '))
    return stdout
  }
  return {
    run,
    json: async (t, ...args) => JSON.parse(await succeed(t, ...args, '--json')),
    text: succeed,
    refused: async (t, ...args) => {
      const { code, stdout, stderr } = await run(...args)
      t.same({ code, stdout }, { code: 1, stdout: '' }, args.join(' '))
      t.notMatch(stderr, /^ +at /m, 'has no stack')
      return stderr
    },
  }
}
