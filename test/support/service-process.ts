import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Test } from 'tap'
import { toRun } from './program.ts'
import { withDeadline } from './until.ts'

/** How a process ended, and its output. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

// Aborted tests run no teardown, but must not leave processes behind.
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A program in a separate process, with only the given environment. */
export class ProgramProcess {
  readonly ended: Promise<Ended>
  readonly #child
  readonly #written = { stdout: '', stderr: '' }

  constructor([command = '', ...args]: string[], env: Record<string, string>) {
    this.#child = spawn(command, args, {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const name of ['stdout', 'stderr'] as const)
      this.#child[name].setEncoding('utf8').on('data', text => {
        this.#written[name] += text
      })
    running.add(this.#child)
    this.#child.once('exit', () => running.delete(this.#child))
    this.ended = once(this.#child, 'close').then(([code, signal]) => ({ code, signal, ...this.#written }))
  }

  get pid(): number {
    return this.#child.pid as number
  }

  /** Resolves when standard output matches; rejects if the process ends before, or at the deadline. */
  until(pattern: RegExp): Promise<RegExpExecArray> {
    const written = new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const match = pattern.exec(this.#written.stdout)
        if (!match) return
        this.#child.stdout.off('data', look)
        resolve(match)
      }
      this.#child.stdout.on('data', look)
      this.ended.then(({ stderr }) => reject(new Error(`the process ended before it wrote ${pattern}: ${stderr}`)))
      look()
    })
    return withDeadline(`the process writes ${pattern}`, written)
  }

  /** Sends a signal, and resolves when the process has exited. SIGKILL prevents any clean-up. */
  end(signal: NodeJS.Signals): Promise<Ended> {
    this.#child.kill(signal)
    return this.ended
  }
}

/** A script of the project. */
export class ScriptProcess extends ProgramProcess {
  constructor(script: string, args: string[], env: Record<string, string>) {
    super([...toRun(script), ...args], env)
  }
}

/** The service in a separate process. */
export class ServiceProcess extends ScriptProcess {
  constructor(folder: string, env: Record<string, string> = {}, args: string[] = []) {
    super('src/main.ts', args, { DATA_DIR: folder, PORT: '0', ...env })
  }

  /** Resolves to the URL when the service listens. */
  async listening(): Promise<string> {
    const [, url = ''] = await this.until(/"url":"([^"]+)".*"msg":"listening"/)
    return url
  }
}

/** Starts a service that does not outlive the test, and waits until it listens. */
export const startServiceProcess = async (
  t: Test,
  folder: string,
  env: Record<string, string> = {},
): Promise<ServiceProcess & { url: string }> => {
  const service = new ServiceProcess(folder, env)
  t.teardown(() => service.end('SIGKILL'))
  return Object.assign(service, { url: await service.listening() })
}
