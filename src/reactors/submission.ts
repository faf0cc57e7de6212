import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Failed, Provider, ProviderOutcome, Submitted } from '../ports/provider.ts'
import type { RunToDo } from '../services/runs/runs.ts'
import { delay } from '../time/delay.ts'
import { broken, cancelled, stopped } from './failures.ts'
import { CALL_TIMEOUT_MS, callProvider } from './provider-call.ts'

/** The default of endpoints: a second and a third attempt, after one and two seconds. */
const DEFAULT_RETRY = { attempts: 3, backOffMs: 1000 }

interface Parts {
  provider: Provider
  clock: Clock
  logger: Logger
  /** The outcome of a run whose time limit has ended. */
  timedOut(run: RunToDo): Failed
}

/** Submits one run to its provider until the provider has done it, has accepted it as a job, or refuses. */
export class Submission {
  readonly run: RunToDo
  readonly #parts: Parts
  readonly #abort = new AbortController()
  /** The outcome if the submission is ended from outside. */
  #ending: Failed | undefined

  constructor(run: RunToDo, parts: Parts) {
    this.run = run
    this.#parts = parts
  }

  /** Resolves to undefined if it was stopped and another process can submit it again. Never rejects. */
  async answer(): Promise<ProviderOutcome | Submitted | undefined> {
    const { startedAt, timeoutMs } = this.run
    const { clock, timedOut } = this.#parts
    const nowMs = clock.nowMs()
    // A start that lies ahead was recorded before a clock went back, and counts as now.
    const leftMs = Math.min(Date.parse(startedAt), nowMs) + timeoutMs - nowMs
    // A run that was taken over may have no time left; its work must not be paid for.
    if (leftMs <= 0) return timedOut(this.run)
    const { signal } = this.#abort
    const ended = new Promise<Failed | undefined>(resolve => {
      signal.addEventListener('abort', () => resolve(this.#ending), { once: true })
    })
    const deadline = clock.timer(leftMs, () => this.#end(timedOut(this.run)))
    return Promise.race([ended, this.#submit()]).finally(() => deadline.cancel())
  }

  cancel() {
    this.#end(cancelled)
  }

  /** Ends the submission because the service stops. Another process can resubmit an async run; a sync run fails. */
  stop() {
    this.#end(this.run.mode === 'sync' ? stopped : undefined)
  }

  #end(failure: Failed | undefined) {
    this.#ending = failure
    this.#abort.abort()
  }

  async #submit(): Promise<ProviderOutcome | Submitted> {
    const { attempts, backOffMs } = this.run.retry ?? DEFAULT_RETRY
    const { signal } = this.#abort
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#submitOnce()
      if (answer.kind !== 'failed' || !answer.retryable || attempt >= attempts) return answer
      await delay(this.#parts.clock, backOffMs * 2 ** (attempt - 1), signal)
      if (signal.aborted) return broken
    }
  }

  async #submitOnce(): Promise<ProviderOutcome | Submitted> {
    const { runId, accountId, endpoint, input, mode, timeoutMs } = this.run
    const { provider, clock, logger } = this.#parts
    const { signal: stop } = this.#abort
    const upstream = { model: endpoint, operation: '', parameters: input }
    try {
      return await callProvider(
        clock,
        // A sync answer may take as long as the run.
        mode === 'sync' ? timeoutMs : CALL_TIMEOUT_MS,
        async signal => provider.submit({ runId, accountId, endpoint, input, upstream }, signal),
        stop,
      )
    } catch (error) {
      if (!stop.aborted) logger.warn({ err: error, runId, endpoint }, 'a provider did not answer')
      return broken
    }
  }
}
