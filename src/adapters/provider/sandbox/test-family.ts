import { setTimeout as delay } from 'node:timers/promises'
import type { RunErrorCode } from '../../../../schemas/account-events.ts'
import type { RunId } from '../../../../schemas/primitives.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Job, ProviderOutcome, Submitted, Working } from '../../../ports/provider.ts'
import { numberIn, textIn } from '../../../studio/work.ts'
import { jobIdOf } from './jobs.ts'

export const isTestJob = ({ endpoint }: Job) => endpoint.startsWith('sandbox-')

/**
 * Behaves as the test family's input says. A job is just its start time, from which each poll computes the rest, so
 * thousands of concurrent jobs cost almost nothing.
 */
export class TestFamily {
  readonly #clock: Clock
  readonly #startedAtMs = new Map<RunId, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async submit(job: Job, signal: AbortSignal): Promise<ProviderOutcome | Submitted> {
    const outcome = textIn(job.input, 'outcome')
    if (outcome === 'crash_before_answer') throw new Error('the sandbox simulates a crash before the answer')
    const isNew = !this.#startedAtMs.has(job.runId)
    const remainingMs = this.#remainingMs(job)
    if (outcome === 'crash_after_answer' && isNew) throw new Error('the sandbox simulates a lost first answer')
    if (job.endpoint.endsWith('-i2v'))
      return { kind: 'submitted', jobId: jobIdOf(job), pollAfterMs: pauseMs(remainingMs) }
    try {
      if (remainingMs > 0) await delay(remainingMs, undefined, { signal })
      if (outcome !== 'hang') return outcomeOf(job)
    } finally {
      this.#startedAtMs.delete(job.runId)
    }
    return new Promise(() => undefined)
  }

  async poll(job: Job): Promise<ProviderOutcome | Working> {
    const remainingMs = this.#remainingMs(job)
    if (remainingMs > 0 || job.input['outcome'] === 'hang') {
      const delayMs = delayOf(job)
      const progress = delayMs === 0 ? 0 : 1 - Math.max(0, remainingMs) / delayMs
      return { kind: 'working', pollAfterMs: pauseMs(remainingMs), progress }
    }
    this.#startedAtMs.delete(job.runId)
    return outcomeOf(job)
  }

  cancel({ runId }: Job): void {
    this.#startedAtMs.delete(runId)
  }

  /** The time until the outcome. Starts an unknown job. */
  #remainingMs(job: Job): number {
    const nowMs = this.#clock.nowMs()
    const startedAtMs = this.#startedAtMs.get(job.runId) ?? nowMs
    this.#startedAtMs.set(job.runId, startedAtMs)
    return startedAtMs + delayOf(job) - nowMs
  }
}

const delayOf = ({ input }: Job) => numberIn(input, 'delay_ms', 0)

function outcomeOf({ input }: Job): ProviderOutcome {
  const outcome = textIn(input, 'outcome')
  if (outcome === 'success' || outcome === 'crash_after_answer')
    return { kind: 'done', media: [], text: `Sandbox heard: ${textIn(input, 'prompt')}` }
  return {
    kind: 'failed',
    // The schema allows nothing else.
    code: outcome as RunErrorCode,
    message: `The sandbox was asked to fail with ${outcome}.`,
    retryable: outcome === 'provider_error',
  }
}

const pauseMs = (remainingMs: number) => Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, remainingMs))

// A single poll at the right time would do, but clients may watch the progress.
const MAX_PAUSE_MS = 10_000

// Even a job that is due, or one that hangs, must not be polled without a pause.
const MIN_PAUSE_MS = 50
