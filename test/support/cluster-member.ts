import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, fstatSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toRun } from './program.ts'
import type { Ended } from './service-process.ts'

/** How much of a process's last output is kept. */
const OUTPUT_LENGTH = 2000

/** Far longer than a service takes to start on a busy machine. */
const MAX_START_MS = 60_000

/** How a process ended, and its last output to standard error. */
export type End = Omit<Ended, 'stdout'>

export interface MemberOptions {
  name: string
  /** A script of the project that prints a line of JSON with its URL once it listens. */
  script: string
  args?: string[]
  /** Its whole environment except PATH. */
  env: Record<string, string | undefined>
  /** The folder of its log file. */
  folder: string
  /** Its URL for this process, if known in advance. The URL that it prints is for clients. */
  url?: string | undefined
  /** Called if it listened and then exits unexpectedly. */
  onEnd?: ((member: Member, end: End) => void) | undefined
}

/** A process of a cluster that can be stopped and restarted. */
export class Member {
  readonly name: string
  /** The file with all its output, across restarts. */
  readonly log: string
  readonly #options: MemberOptions
  #url = ''
  #child: ChildProcess | undefined
  #ended: Promise<End> = Promise.resolve({ code: null, signal: null, stderr: '' })
  #isStopping = false

  constructor(options: MemberOptions) {
    this.name = options.name
    this.log = join(options.folder, `${options.name.replaceAll(' ', '-')}.log`)
    this.#options = options
  }

  /** Its URL. Without a fixed port, it may change with each start. */
  get url(): string {
    return this.#url
  }

  get pid(): number {
    return this.#child?.pid as number
  }

  /** Starts it, and resolves when it listens. Rejects with its last output if it exits before. */
  async start(): Promise<void> {
    const { script, args = [], env, onEnd } = this.#options
    this.#isStopping = false
    const log = openSync(this.log, 'a')
    const { size } = fstatSync(log)
    // The kernel kills it when this process ends for any reason. Ctrl-C in the terminal reaches only this process.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...toRun(script), ...args], {
      detached: true,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', log, 'pipe'],
    })
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', text => {
      stderr = (stderr + text).slice(-OUTPUT_LENGTH)
      appendFileSync(this.log, text)
    })
    this.#child = child
    this.#ended = once(child, 'close').then(
      ([code, signal]) => ({ code, signal, stderr }),
      (error: Error) => ({ code: null, signal: null, stderr: error.message }),
    )
    closeSync(log)

    let end: End | undefined
    const ended = this.#ended.then(how => {
      end = how
    })
    let written = ''
    const endMs = performance.now() + MAX_START_MS
    while (!end && performance.now() < endMs) {
      written = (await readFile(this.log)).subarray(size).toString()
      const url = findUrl(written)
      if (url) {
        this.#url = this.#options.url ?? url
        this.#ended.then(how => this.#isStopping || onEnd?.(this, how))
        return
      }
      await Promise.race([ended, sleep(20)])
    }
    const what = end ? 'exited before it listened' : 'does not listen'
    throw new Error(`${this.name} ${what}: ${end?.stderr || written.slice(-OUTPUT_LENGTH)}`)
  }

  /** Sends a signal, and resolves when it has exited. SIGKILL prevents any clean-up. */
  end(signal: NodeJS.Signals): Promise<End> {
    this.#isStopping = true
    this.#child?.kill(signal)
    return this.#ended
  }
}

/** The URL in the line that announces it. The last line may be incomplete. */
const findUrl = (written: string): string | undefined => {
  const line = /^\{.*"msg":"listening".*\}$/m.exec(written)?.[0]
  return line && (JSON.parse(line) as { url: string }).url
}
