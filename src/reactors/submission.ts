import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Failed, Outcome, Provider, Submitted } from '../ports/provider.ts'
import type { RunToDo } from '../services/runs/runs.ts'
import { broken, cancelled, stopped, timedOut } from './failures.ts'
import { CALL_TIMEOUT_MS, callWithin } from './provider-call.ts'

/** Where an endpoint says nothing: a second and a third attempt, after one and two seconds. */
const DEFAULT_RETRY = { attempts: 3, backOffMs: 1000 }

interface Parts {
  provider: Provider
  clock: Clock
  logger: Logger
}

/** Asking a provider for one run's work: until it has done it, has taken it as a job, or will not. */
export class Submission {
  readonly run: RunToDo
  readonly #parts: Parts
  readonly #abort = new AbortController()
  /** What the run comes to when the submission is ended from outside. */
  #ending: Failed | undefined

  constructor(run: RunToDo, parts: Parts) {
    this.run = run
    this.#parts = parts
  }

  /** Resolves to undefined when it was stopped, and another process can submit it again. Never rejects. */
  async answer(): Promise<Outcome | Submitted | undefined> {
    const { startedAt, timeoutMs } = this.run
    const leftMs = Date.parse(startedAt) + timeoutMs - this.#parts.clock.nowMs()
    // One that was taken over may have no time left, and its work must not be bought then.
    if (leftMs <= 0) return timedOut(timeoutMs)
    const { signal } = this.#abort
    const ended = new Promise<Failed | undefined>(resolve => {
      signal.addEventListener('abort', () => resolve(this.#ending), { once: true })
    })
    const deadline = setTimeout(() => this.#end(timedOut(timeoutMs)), leftMs)
    // A pause that ends early rejects, and then the submission has ended already.
    const asked = this.#ask().catch(() => broken)
    return Promise.race([ended, asked]).finally(() => clearTimeout(deadline))
  }

  cancel() {
    this.#end(cancelled)
  }

  /** The service stops. An async run can be submitted again by another process; a sync one has lost its client. */
  stop() {
    this.#end(this.run.mode === 'sync' ? stopped : undefined)
  }

  #end(failure: Failed | undefined) {
    this.#ending = failure
    this.#abort.abort()
  }

  async #ask(): Promise<Outcome | Submitted> {
    const { attempts, backOffMs } = this.run.retry ?? DEFAULT_RETRY
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#askOnce()
      if (answer.kind !== 'failed' || !answer.retryable || attempt >= attempts) return answer
      await delay(backOffMs * 2 ** (attempt - 1), undefined, { signal: this.#abort.signal })
    }
  }

  async #askOnce(): Promise<Outcome | Submitted> {
    const { runId, endpoint, input, mode, timeoutMs } = this.run
    const { provider, logger } = this.#parts
    const { signal: stop } = this.#abort
    try {
      return await callWithin(
        // What is answered at once takes as long as the run may.
        mode === 'sync' ? timeoutMs : CALL_TIMEOUT_MS,
        async signal => provider.submit({ runId, endpoint, input }, signal),
        stop,
      )
    } catch (error) {
      if (!stop.aborted) logger.warn({ err: error, runId, endpoint }, 'a provider did not answer')
      return broken
    }
  }
}
