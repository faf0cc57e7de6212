import { type ChildProcess, fork, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const running = new Set<ChildProcess>()

/** A benchmark asks how fast the service is, not when it refuses to be faster. */
const UNLIMITED = {
  ...{ REQUESTS_PER_MINUTE_PER_KEY: '0', REQUESTS_PER_MINUTE_PER_ACCOUNT: '0' },
  ...{ RUNS_IN_FLIGHT_PER_KEY: '0', RUNS_IN_FLIGHT_PER_ACCOUNT: '0' },
}

// A benchmark that fails or is interrupted leaves no process behind.
process.on('exit', () => {
  for (const child of running) child.kill()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Starts a script of this folder as a process, and resolves to its first message. */
export const startProcess = async <Ready>(
  script: string,
  { args = [], env = {}, profile }: { args?: string[]; env?: Record<string, string>; profile?: string } = {},
): Promise<{ child: ChildProcess; ready: Ready }> => {
  const execArgv = profile ? ['--cpu-prof', `--cpu-prof-dir=bench/.profiles/${profile}`] : []
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc']
  const all = { ...process.env, ...UNLIMITED, ...env }
  const child = fork(join(import.meta.dirname, script), args, { execArgv, env: all, stdio })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const [ready] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${script} ended with ${code}`))),
  ])
  return { child, ready: ready as Ready }
}

/** Tells a process to stop, and waits for its exit. */
export const stopProcess = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null) return
  const exited = once(child, 'exit')
  child.send('stop')
  await exited
}
