import { setTimeout as delay } from 'node:timers/promises'
import type { RunErrorCode } from '../../../../schemas/account-events.ts'
import type { RunId } from '../../../../schemas/primitives.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Job, Outcome, Submitted, Working } from '../../../ports/provider.ts'
import { numberIn, textIn } from '../../../studio/work.ts'
import { jobIdOf } from './jobs.ts'

export const isTestJob = ({ endpoint }: Job) => endpoint.startsWith('sandbox-')

/**
 * Behaves as the test family's input says. A job is nothing but the time of its beginning, from which a poll works out
 * the rest, so that thousands at once cost next to nothing.
 */
export class TestFamily {
  readonly #clock: Clock
  readonly #begunAtMs = new Map<RunId, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async submit(job: Job, signal: AbortSignal): Promise<Outcome | Submitted> {
    const asked = textIn(job.input, 'outcome')
    if (asked === 'crash_before_answer') throw new Error('the sandbox was asked to crash before it answers')
    const isNew = !this.#begunAtMs.has(job.runId)
    const leftMs = this.#leftMs(job)
    if (asked === 'crash_after_answer' && isNew) throw new Error('the sandbox was asked to lose its first answer')
    if (job.endpoint.endsWith('-i2v')) return { kind: 'submitted', jobId: jobIdOf(job), pollAfterMs: pauseMs(leftMs) }
    try {
      if (leftMs > 0) await delay(leftMs, undefined, { signal })
      if (asked !== 'hang') return outcomeOf(job)
    } finally {
      this.#begunAtMs.delete(job.runId)
    }
    return new Promise(() => undefined)
  }

  async poll(job: Job): Promise<Outcome | Working> {
    const leftMs = this.#leftMs(job)
    if (leftMs > 0 || job.input['outcome'] === 'hang') {
      const delayMs = delayOf(job)
      const progress = delayMs === 0 ? 0 : 1 - Math.max(0, leftMs) / delayMs
      return { kind: 'working', pollAfterMs: pauseMs(leftMs), progress }
    }
    this.#begunAtMs.delete(job.runId)
    return outcomeOf(job)
  }

  cancel({ runId }: Job): void {
    this.#begunAtMs.delete(runId)
  }

  /** How long until the outcome. A job that is not known begins now. */
  #leftMs(job: Job): number {
    const nowMs = this.#clock.nowMs()
    const begunAtMs = this.#begunAtMs.get(job.runId) ?? nowMs
    this.#begunAtMs.set(job.runId, begunAtMs)
    return begunAtMs + delayOf(job) - nowMs
  }
}

const delayOf = ({ input }: Job) => numberIn(input, 'delay_ms', 0)

function outcomeOf({ input }: Job): Outcome {
  const asked = textIn(input, 'outcome')
  if (asked === 'success' || asked === 'crash_after_answer')
    return { kind: 'done', media: [], text: `Sandbox heard: ${textIn(input, 'prompt')}` }
  return {
    kind: 'failed',
    // The schema lets nothing else through.
    code: asked as RunErrorCode,
    message: `The sandbox was asked to fail with ${asked}.`,
    retryable: asked === 'provider_error',
  }
}

const pauseMs = (leftMs: number) => Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, leftMs))

// One poll at the right time is enough, unless somebody watches the progress.
const LONGEST_PAUSE_MS = 10_000

// A job that is due, or one that hangs, is still not to be asked after without a pause.
const SHORTEST_PAUSE_MS = 50
