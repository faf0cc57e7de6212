import { type ChildProcess, spawn } from 'node:child_process'
import { toRun } from './program.ts'
import { withDeadline } from './until.ts'

/** A command of the command line, and its environment. */
export interface Command {
  args: string[]
  env: Record<string, string>
}

/** How a command ended, and its output. */
export interface CommandEnd {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs a command in a process that runs all such commands of this process, one after another. */
export const runCommand = (command: Command): Promise<CommandEnd> => {
  runner ??= startRunner()
  return runner(command)
}

let runner: ReturnType<typeof startRunner> | undefined

const startRunner = () => {
  const [program = '', ...args] = toRun('test/support/command-process.ts')
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  // Other files of this process use it too, so no test ends it.
  child.unref()
  child.channel?.unref()
  process.once('exit', () => child.kill('SIGKILL'))
  const waiting = new Map<number, (end: CommandEnd) => void>()
  child.on('message', ({ id, ...end }: CommandEnd & { id: number }) => waiting.get(id)?.(end))
  let commands = 0
  return (command: Command) => {
    const id = ++commands
    const end = new Promise<CommandEnd>(resolve => waiting.set(id, resolve))
    child.send({ id, ...command })
    return withDeadline(`"${command.args.join(' ')}" ends`, end)
  }
}
