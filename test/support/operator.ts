import type { Test } from 'tap'
import { type Ended, ScriptProcess } from './service-process.ts'

/** Runs commands of the command line, each in a separate process, on the stores in a folder. */
export interface Operator {
  run(t: Test, ...args: string[]): Promise<Ended>
  /** Runs a command that must succeed, and parses the JSON that it prints. */
  json<Printed>(t: Test, ...args: string[]): Promise<Printed>
  /** Runs a command that must succeed, and returns its output. */
  text(t: Test, ...args: string[]): Promise<string>
  /** Runs a command that must fail, and returns its error message. */
  refused(t: Test, ...args: string[]): Promise<string>
}

export const operatorOf = (folder: string): Operator => {
  const run = (t: Test, ...args: string[]) => {
    const command = new ScriptProcess('src/cli.ts', args, { DATA_DIR: folder })
    t.teardown(() => command.end('SIGKILL'))
    return command.ended
  }
  const succeed = async (t: Test, ...args: string[]) => {
    const { code, stdout, stderr } = await run(t, ...args)
    t.same({ code, stderr }, { code: 0, stderr: '' }, args.join(' '))
    return stdout
  }
  return {
    run,
    json: async (t, ...args) => JSON.parse(await succeed(t, ...args, '--json')),
    text: succeed,
    refused: async (t, ...args) => {
      const { code, stdout, stderr } = await run(t, ...args)
      t.same({ code, stdout }, { code: 1, stdout: '' }, args.join(' '))
      t.notMatch(stderr, /^ +at /m, 'has no stack')
      return stderr
    },
  }
}
