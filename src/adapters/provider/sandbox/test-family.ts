import { setTimeout as delay } from 'node:timers/promises'
import type { RunErrorCode } from '../../../../schemas/account-events.ts'
import type { RunId } from '../../../../schemas/primitives.ts'
import { isTestEndpoint } from '../../../domain/catalog/family.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Job, ProviderOutcome, Submitted, SubmittedJob, Working } from '../../../ports/provider.ts'
import { numberIn, textIn } from '../../../studio/work.ts'
import { jobIdOf } from './jobs.ts'
import type { SandboxJob } from './order.ts'
import { piecesOf } from './production.ts'

export const isTestJob = ({ endpoint }: Pick<Job, 'endpoint'>) => isTestEndpoint(endpoint)

/** Outcomes with a text. */
const SPOKEN = ['success', 'crash_after_answer', 'hang']

interface Started {
  atMs: number
  delayMs: number
  hangs: boolean
}

/**
 * Behaves as the input of the test family says. A job consists of its start and its delay, from which each poll
 * computes the rest, so thousands of concurrent jobs cost almost nothing.
 */
export class TestFamily {
  readonly #clock: Clock
  readonly #started = new Map<RunId, Started>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  async submit(job: SandboxJob, signal: AbortSignal): Promise<ProviderOutcome | Submitted> {
    const outcome = textIn(job.input, 'outcome')
    const { onText } = job
    if (onText && SPOKEN.includes(outcome)) return this.#speak(job.input, onText, signal)
    if (outcome === 'crash_before_answer') throw new Error('the sandbox simulates a crash before the answer')
    const isNew = !this.#started.has(job.runId)
    const remainingMs = this.#remainingMs(this.#start(job))
    if (outcome === 'crash_after_answer' && isNew) throw new Error('the sandbox simulates a lost first answer')
    if (job.endpoint.endsWith('-i2v'))
      return { kind: 'submitted', jobId: jobIdOf(job), pollAfterMs: pauseMs(remainingMs) }
    try {
      if (remainingMs > 0) await delay(remainingMs, undefined, { signal })
      if (outcome !== 'hang') return outcomeOf(job.input)
    } finally {
      this.#started.delete(job.runId)
    }
    return new Promise(() => undefined)
  }

  /** Hands over a text, word by word, until the delay has passed. A crash or a hang comes after half of it. */
  async #speak(input: Job['input'], onText: NonNullable<Job['onText']>, signal: AbortSignal): Promise<ProviderOutcome> {
    const words = piecesOf(textOf(input), 1)
    const startMs = this.#clock.monotonicMs()
    const outcome = textIn(input, 'outcome')
    const isWhole = outcome === 'success'
    for (const [at, word] of words.slice(0, isWhole ? words.length : words.length / 2).entries()) {
      const dueMs = startMs + (numberIn(input, 'delay_ms', 0) * (at + 1)) / words.length
      const waitMs = dueMs - this.#clock.monotonicMs()
      if (waitMs > 0) await delay(waitMs, undefined, { signal })
      onText(word)
    }
    if (isWhole) return outcomeOf(input)
    if (outcome === 'crash_after_answer') throw new Error('the sandbox simulates an answer that breaks off')
    return new Promise(() => undefined)
  }

  async poll(job: SubmittedJob): Promise<ProviderOutcome | Working> {
    const started = this.#started.get(job.runId) ?? this.#start({ ...job, input: await job.input() })
    const { delayMs, hangs } = started
    const remainingMs = this.#remainingMs(started)
    if (remainingMs > 0 || hangs) {
      const progress = delayMs === 0 ? 0 : 1 - Math.max(0, remainingMs) / delayMs
      return { kind: 'working', pollAfterMs: pauseMs(remainingMs), progress }
    }
    this.#started.delete(job.runId)
    return outcomeOf(await job.input())
  }

  cancel({ runId }: SubmittedJob): void {
    this.#started.delete(runId)
  }

  /** Starts a job, unless it is known. */
  #start({ runId, input }: SandboxJob): Started {
    const known = this.#started.get(runId)
    if (known) return known
    const delayMs = numberIn(input, 'delay_ms', 0)
    const started = { atMs: this.#clock.nowMs(), delayMs, hangs: input['outcome'] === 'hang' }
    this.#started.set(runId, started)
    return started
  }

  /** The time until the outcome. */
  #remainingMs({ atMs, delayMs }: Started): number {
    return atMs + delayMs - this.#clock.nowMs()
  }
}

function outcomeOf(input: Job['input']): ProviderOutcome {
  const outcome = textIn(input, 'outcome')
  if (outcome === 'success' || outcome === 'crash_after_answer') return { kind: 'done', media: [], text: textOf(input) }
  return {
    kind: 'failed',
    // The schema allows only error codes here.
    code: outcome as RunErrorCode,
    message: `The request asked the sandbox to fail with ${outcome}.`,
    retryable: outcome === 'provider_error',
  }
}

const textOf = (input: Job['input']) => `Sandbox heard: ${textIn(input, 'prompt')}`

const pauseMs = (remainingMs: number) => Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, remainingMs))

// A single poll at the right time would suffice, but clients may watch the progress.
const MAX_PAUSE_MS = 10_000

// Even a job that is due, or that hangs, must not be polled without a pause.
const MIN_PAUSE_MS = 50
