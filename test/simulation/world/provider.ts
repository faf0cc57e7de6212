import { outputTypeOf } from '../../../src/domain/catalog/family.ts'
import type {
  Done,
  Failed,
  Job,
  Provider,
  ProviderOutcome,
  Submitted,
  SubmittedJob,
  Working,
} from '../../../src/ports/provider.ts'
import { pngWith } from '../../support/sample-files.ts'
import { MEDIA } from '../../support/vendor.ts'
import type { World } from './world.ts'

interface Work {
  jobId: string
  beginsAtMs: number
  endsAtMs: number
  outcome: ProviderOutcome
  isHanging: boolean
}

/** A provider outside of all processes. It does a run's job once, however often it is submitted, unless it forgets. */
export class SimulatedProvider {
  readonly #world: World
  readonly #isFaulty: boolean
  readonly #work = new Map<string, Work>()
  #jobs = 0
  /** Whether the submission of an async job waits for its answer. */
  isBusy = false

  /** `isFaulty`: at times it takes no jobs at all. */
  constructor(world: World, { isFaulty = false } = {}) {
    this.#world = world
    this.#isFaulty = isFaulty
  }

  /** The port, as one process has it. Endpoints that are async get a job to poll. */
  port(isAsync: boolean): Provider {
    const common = { deduplicates: true }
    if (!isAsync) return { ...common, submit: job => this.#do(job) }
    const cancel = (job: SubmittedJob) => this.#cancel(job)
    return { ...common, submit: job => this.#accept(job), poll: job => this.#poll(job), cancel }
  }

  async #do(job: Job): Promise<ProviderOutcome> {
    const { timeline } = this.#world
    const work = this.#workOf(job)
    if (job.onText) await this.#speak(work, job.runId, job.onText)
    if (work.isHanging) await new Promise(() => undefined)
    await timeline.pass(work.endsAtMs - timeline.nowMs)
    return work.outcome
  }

  /** Says its text, or a part of it, if it will fail or hang. At times, the connection ends after that part. */
  async #speak({ isHanging, beginsAtMs, endsAtMs, outcome }: Work, runId: string, onText: (text: string) => void) {
    const { chance, timeline, texts } = this.#world
    const pieces = texts.piecesOf(runId, chance)
    const isWhole = outcome.kind === 'done' && !isHanging
    const said = isWhole ? pieces : pieces.slice(0, chance.below(pieces.length + 1))
    for (const [index, piece] of said.entries()) {
      await timeline.pass(beginsAtMs + ((endsAtMs - beginsAtMs) * index) / said.length - timeline.nowMs)
      onText(piece)
    }
    if (isWhole || isHanging || chance.happens(0.5)) return
    this.#world.count('text broken off')
    throw new Error('the answer ended too early')
  }

  /** Accepts a job, or refuses it if it may succeed later. */
  async #accept(job: Job): Promise<ProviderOutcome | Submitted> {
    const { jobId, outcome } = this.#workOf(job)
    while (this.isBusy) await this.#world.timeline.pass(100)
    if (outcome.kind === 'failed' && outcome.retryable) return outcome
    return { kind: 'submitted', jobId, pollAfterMs: 500 }
  }

  async #poll(job: SubmittedJob): Promise<ProviderOutcome | Working> {
    const { isHanging, endsAtMs, outcome } = this.#acceptedWork(job)
    if (!isHanging && this.#world.timeline.nowMs >= endsAtMs) return outcome
    return { kind: 'working', pollAfterMs: 500, progress: this.#world.chance.fraction() }
  }

  async #cancel(job: SubmittedJob): Promise<void> {
    const { chance, timeline } = this.#world
    const work = this.#acceptedWork(job)
    if (chance.happens(0.2)) throw new Error('the job cannot be stopped')
    // A provider may promise to stop a job, and finish it.
    if (chance.happens(0.2)) return
    work.endsAtMs = timeline.nowMs
    work.isHanging = false
    work.outcome = { kind: 'failed', code: 'cancelled', message: 'Cancelled.' }
  }

  #acceptedWork({ runId, jobId }: SubmittedJob): Work {
    const work = this.#work.get(runId)
    if (work?.jobId !== jobId) throw new Error(`${runId} has no job ${jobId}`)
    return work
  }

  #workOf({ runId, endpoint, input }: Job): Work {
    const { chance, timeline, faults } = this.#world
    const known = this.#work.get(runId)
    if (known && !chance.happens(faults.jobForgotten)) return known
    if (known) this.#world.count('job forgotten')
    const isMissing = input['image_url'] !== undefined && !this.#world.readImage(String(input['image_url']))
    const outcome: ProviderOutcome =
      isMissing || chance.happens(faults.jobFails) ? this.#failure() : this.#result(runId, endpoint)
    const endsAtMs = timeline.nowMs + chance.between(1, chance.happens(0.2) ? 20_000 : 1_000)
    this.#jobs += 1
    const isHanging = chance.happens(faults.jobHangs)
    const work = { jobId: `job-${this.#jobs}`, beginsAtMs: timeline.nowMs, endsAtMs, outcome, isHanging }
    this.#work.set(runId, work)
    return work
  }

  #result(runId: string, endpoint: string): Done {
    if (outputTypeOf(endpoint) === 'text') {
      const { texts, chance } = this.#world
      const units = this.#tokens()
      texts.noteReport(runId, units)
      return { kind: 'done', media: [], text: texts.piecesOf(runId, chance).join(''), work: { units } }
    }
    return { kind: 'done', media: [{ mimeType: 'image/png', bytes: pngWith(MEDIA, 'tEXt', Buffer.from(runId)) }] }
  }

  /** The tokens that it reports of an answer: at times none, or numbers that no answer has. */
  #tokens(): Record<string, number> {
    const { chance } = this.#world
    const usual = { input_tokens: chance.between(1, 60), output_tokens: chance.between(1, 1000) }
    const report = chance.pick(['usual', 'usual', 'cached', 'none', 'partial', 'negative', 'more', 'absurd'] as const)
    this.#world.count(`tokens: ${report}`)
    switch (report) {
      case 'usual':
        return usual
      case 'cached':
        return { ...usual, cached_tokens: 1 }
      case 'none':
        return {}
      case 'partial':
        return { input_tokens: usual.input_tokens }
      case 'negative':
        return { ...usual, cached_tokens: usual.input_tokens + 1 }
      case 'more':
        return { ...usual, output_tokens: 1_000_000 }
      case 'absurd':
        return { ...usual, output_tokens: 1e300 }
    }
  }

  #failure(): Failed {
    const { chance } = this.#world
    const failed = { kind: 'failed', code: 'provider_error', message: 'It failed.' } as const
    if (chance.happens(0.5)) return failed
    const fault = { kind: chance.pick(['overloaded', 'rate_limited', 'unauthorized', 'gone'] as const) }
    return { ...failed, retryable: true, ...(this.#isFaulty && { fault }) }
  }
}
