import { type ChildProcess, fork, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const running = new Set<ChildProcess>()

// A benchmark that fails leaves no process behind.
process.on('exit', () => {
  for (const child of running) child.kill()
})

/** Starts a script of this folder as a process, and resolves to its first message. */
export const startProcess = async <Ready>(
  script: string,
  { args = [], env = {}, profile }: { args?: string[]; env?: Record<string, string>; profile?: string } = {},
): Promise<{ child: ChildProcess; ready: Ready }> => {
  const execArgv = profile ? ['--cpu-prof', `--cpu-prof-dir=bench/.profiles/${profile}`] : []
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc']
  const child = fork(join(import.meta.dirname, script), args, { execArgv, env: { ...process.env, ...env }, stdio })
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
