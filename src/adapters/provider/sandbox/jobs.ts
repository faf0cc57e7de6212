import { LRUCache } from 'lru-cache'
import type { RunId } from '../../../../schemas/primitives.ts'
import type { ProviderOutcome, Submitted, SubmittedJob, Working } from '../../../ports/provider.ts'
import type { SandboxJob } from './order.ts'

/** Completes a job, and updates `progress` as it runs. */
type Produce = (job: SandboxJob, signal: AbortSignal, progress: Float32Array) => Promise<ProviderOutcome>

interface Running {
  progress: Float32Array
  abort: AbortController
  result: Promise<ProviderOutcome>
  hasEnded: boolean
}

/**
 * Long jobs, one per run, in memory only. After a restart, polling an unknown job starts it again, with the same
 * result.
 */
export class Jobs {
  readonly #produce: Produce
  readonly #running = new Map<RunId, Running>()
  readonly #cancelled = new LRUCache<RunId, true>({ max: MAX_CANCELLED })

  constructor(produce: Produce) {
    this.#produce = produce
  }

  submit(job: SandboxJob): Submitted {
    this.#find(job)
    return { kind: 'submitted', jobId: jobIdOf(job), pollAfterMs: POLL_AFTER_MS }
  }

  /** Returns the progress, or the result, which is then forgotten. */
  async poll(job: SubmittedJob): Promise<ProviderOutcome | Working> {
    if (this.#cancelled.has(job.runId)) return cancelled
    const running = this.#running.get(job.runId) ?? (await this.#restart(job))
    if (!running) return cancelled
    if (!running.hasEnded) return { kind: 'working', pollAfterMs: POLL_AFTER_MS, progress: running.progress[0] ?? 0 }
    this.#running.delete(job.runId)
    return running.result
  }

  /** Remembers the run, so that a later poll does not restart the job. */
  cancel({ runId }: SubmittedJob): void {
    this.#cancelled.set(runId, true)
    this.#running.get(runId)?.abort.abort()
    this.#running.delete(runId)
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort()
    this.#running.clear()
  }

  /** Undefined if the job is cancelled before its input is read. */
  async #restart(job: SubmittedJob): Promise<Running | undefined> {
    const input = await job.input()
    return this.#cancelled.has(job.runId) ? undefined : this.#find({ ...job, input })
  }

  #find(job: SandboxJob): Running {
    const known = this.#running.get(job.runId)
    if (known) return known
    const abort = new AbortController()
    const progress = new Float32Array(new SharedArrayBuffer(Float32Array.BYTES_PER_ELEMENT))
    const result = this.#produce(job, abort.signal, progress).catch((): ProviderOutcome => productionFailed)
    const running: Running = { progress, abort, result, hasEnded: false }
    this.#running.set(job.runId, running)
    const end = () => this.#expire(job.runId, running)
    result.then(end, end)
    return running
  }

  #expire(runId: RunId, running: Running): void {
    running.hasEnded = true
    const forget = () => {
      if (this.#running.get(runId) === running) this.#running.delete(runId)
    }
    setTimeout(forget, RESULT_KEPT_MS).unref()
  }
}

const cancelled: ProviderOutcome = { kind: 'failed', code: 'cancelled', message: 'The job was cancelled.' }

/** Far more jobs than are polled after their cancellation. */
const MAX_CANCELLED = 10_000

/** A crash is a final outcome, because a retry would crash again. */
const productionFailed: ProviderOutcome = {
  kind: 'failed',
  code: 'provider_error',
  message: 'The sandbox could not make this.',
}

/** Derived from the run, so that every process knows it. */
export const jobIdOf = ({ runId }: SandboxJob) => `sandbox-${runId}`

/** A film of a few seconds takes a few seconds. */
const POLL_AFTER_MS = 1_000

// Many times the poll interval. Results that are never polled must not fill the memory.
const RESULT_KEPT_MS = 5 * 60_000
