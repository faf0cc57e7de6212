import { LRUCache } from 'lru-cache'
import type { RunId } from '../../../../schemas/primitives.ts'
import type { Job, Outcome, Submitted, Working } from '../../../ports/provider.ts'

/** Does a job to its end, writing into `progress` how far it is. */
type Produce = (job: Job, signal: AbortSignal, progress: Float32Array) => Promise<Outcome>

interface Running {
  progress: Float32Array
  abort: AbortController
  result: Promise<Outcome>
  hasEnded: boolean
}

/**
 * Long work, one job for each run. It is kept in memory alone: a job that a restart has made unknown is begun anew when
 * it is asked after, and comes to the same result.
 */
export class Jobs {
  readonly #produce: Produce
  readonly #running = new Map<RunId, Running>()
  readonly #cancelled = new LRUCache<RunId, true>({ max: MAX_CANCELLED })

  constructor(produce: Produce) {
    this.#produce = produce
  }

  submit(job: Job): Submitted {
    this.#find(job)
    return { kind: 'submitted', jobId: jobIdOf(job), pollAfterMs: POLL_AFTER_MS }
  }

  /** The result, which is handed out once, or how far the job is. */
  async poll(job: Job): Promise<Outcome | Working> {
    if (this.#cancelled.has(job.runId)) return cancelled
    const running = this.#find(job)
    if (!running.hasEnded) return { kind: 'working', pollAfterMs: POLL_AFTER_MS, progress: running.progress[0] ?? 0 }
    this.#running.delete(job.runId)
    return running.result
  }

  /** What was cancelled stays so: to ask after it again must not begin it anew. */
  cancel({ runId }: Job): void {
    this.#cancelled.set(runId, true)
    this.#running.get(runId)?.abort.abort()
    this.#running.delete(runId)
  }

  close(): void {
    for (const { abort } of this.#running.values()) abort.abort()
    this.#running.clear()
  }

  #find(job: Job): Running {
    const known = this.#running.get(job.runId)
    if (known) return known
    const abort = new AbortController()
    const progress = new Float32Array(new SharedArrayBuffer(Float32Array.BYTES_PER_ELEMENT))
    const result = this.#produce(job, abort.signal, progress).catch((): Outcome => unmade)
    const running: Running = { progress, abort, result, hasEnded: false }
    this.#running.set(job.runId, running)
    const end = () => this.#keepForAWhile(job.runId, running)
    result.then(end, end)
    return running
  }

  #keepForAWhile(runId: RunId, running: Running): void {
    running.hasEnded = true
    const forget = () => {
      if (this.#running.get(runId) === running) this.#running.delete(runId)
    }
    setTimeout(forget, RESULT_KEPT_MS).unref()
  }
}

const cancelled: Outcome = { kind: 'failed', code: 'cancelled', message: 'The job was cancelled.' }

/** More than anybody still asks after. */
const MAX_CANCELLED = 10_000

/** A job that breaks has ended: to ask for it anew would break it again. */
const unmade: Outcome = { kind: 'failed', code: 'provider_error', message: 'The sandbox could not make this.' }

/** The same for the same run in every process, so that nothing needs to be remembered for it. */
export const jobIdOf = ({ runId }: Job) => `sandbox-${runId}`

/** A film of a few seconds takes a few seconds. */
const POLL_AFTER_MS = 1_000

// Many times longer than anybody waits before asking again; results that nobody asks for must not fill the memory.
const RESULT_KEPT_MS = 5 * 60_000
