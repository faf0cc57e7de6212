import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, fstatSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { toRun } from './program.ts'
import type { Ended } from './service-process.ts'

/** What is kept of the last words of a process. */
const WORDS_LENGTH = 2000

/** How a process ended, and the last that it wrote to standard error. */
export type End = Omit<Ended, 'stdout'>

export interface MemberOptions {
  name: string
  /** A script of the project that says in a line of JSON when and where it listens. */
  script: string
  args?: string[]
  /** All of its environment, but for the way to programs. */
  env: Record<string, string | undefined>
  /** Where its log is kept. */
  folder: string
  /** Where it is to be reached, if that is known beforehand: what it says of itself is where clients reach it. */
  url?: string | undefined
  /** Called when it has listened, and then ends without having been told to. */
  onEnd?: ((member: Member, end: End) => void) | undefined
}

/** One process of a cluster, which can be ended and started again. */
export class Member {
  readonly name: string
  /** The file that everything goes to that it writes, in all of its lives. */
  readonly log: string
  readonly #options: MemberOptions
  #url = ''
  #child: ChildProcess | undefined
  #ended: Promise<End> = Promise.resolve({ code: null, signal: null, stderr: '' })
  #isToEnd = false

  constructor(options: MemberOptions) {
    this.name = options.name
    this.log = join(options.folder, `${options.name.replaceAll(' ', '-')}.log`)
    this.#options = options
  }

  /** Where it listens; a port that it was not given may be another one after each start. */
  get url(): string {
    return this.#url
  }

  get pid(): number {
    return this.#child?.pid as number
  }

  /** Starts it, and resolves when it listens. Rejects with its last words when it ends before that. */
  async start(): Promise<void> {
    const { script, args = [], env, onEnd } = this.#options
    this.#isToEnd = false
    const log = openSync(this.log, 'a')
    const { size } = fstatSync(log)
    // The kernel kills it when this process ends, in whatever way it does; a Ctrl-C in the terminal is only for this one.
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', ...toRun(script), ...args], {
      detached: true,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', log, 'pipe'],
    })
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', text => {
      stderr = (stderr + text).slice(-WORDS_LENGTH)
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
    while (!end) {
      written = (await readFile(this.log)).subarray(size).toString()
      const url = findUrl(written)
      if (url) {
        this.#url = this.#options.url ?? url
        this.#ended.then(how => this.#isToEnd || onEnd?.(this, how))
        return
      }
      await Promise.race([ended, sleep(20)])
    }
    throw new Error(`${this.name} ended before it listened: ${end.stderr || written.slice(-WORDS_LENGTH)}`)
  }

  /** Sends a signal, and resolves when it has ended; SIGKILL leaves it no chance to tidy up. */
  end(signal: NodeJS.Signals): Promise<End> {
    this.#isToEnd = true
    this.#child?.kill(signal)
    return this.#ended
  }
}

/** The address in the line that tells of it. The last line may not be whole yet. */
const findUrl = (written: string): string | undefined => {
  const line = /^\{.*"msg":"listening".*\}$/m.exec(written)?.[0]
  return line && (JSON.parse(line) as { url: string }).url
}
