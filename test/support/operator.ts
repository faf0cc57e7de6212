import type { Test } from 'tap'
import { type Ended, ScriptProcess } from './service-process.ts'

/** Somebody who gives commands, each as a process of its own, on the stores in a folder. */
export interface Operator {
  run(t: Test, ...args: string[]): Promise<Ended>
  /** Gives a command that must succeed, and reads the JSON that it prints. */
  json<Printed>(t: Test, ...args: string[]): Promise<Printed>
  /** Gives a command that must succeed, and hands back what a person sees. */
  text(t: Test, ...args: string[]): Promise<string>
  /** Gives a command that must fail, and hands back the one message of it. */
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
