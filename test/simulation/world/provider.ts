import type { Job, Provider, ProviderOutcome, SubmittedJob } from '../../../src/ports/provider.ts'
import type { World } from './world.ts'

interface Work {
  jobId: string
  endsAtMs: number
  outcome: ProviderOutcome
  isHanging: boolean
}

/** A provider outside of all processes. It does a run's job once, however often it is submitted. */
export class SimulatedProvider {
  readonly #world: World
  readonly #work = new Map<string, Work>()

  constructor(world: World) {
    this.#world = world
  }

  /** The port, as one process has it. Endpoints that are async get a job to poll. */
  port(isAsync: boolean): Provider {
    const submit = async (job: Job) => {
      const work = this.#workOf(job)
      if (isAsync) return { kind: 'submitted', jobId: work.jobId, pollAfterMs: 500 } as const
      await this.#ended(work)
      return work.outcome
    }
    if (!isAsync) return { submit, close: async () => undefined }
    return {
      submit,
      poll: async ({ runId, jobId }: SubmittedJob) => {
        const work = this.#work.get(runId)
        if (work?.jobId !== jobId) throw new Error(`${runId} has no job ${jobId}`)
        if (!work.isHanging && this.#world.timeline.nowMs >= work.endsAtMs) return work.outcome
        return { kind: 'working', pollAfterMs: 500, progress: this.#world.chance.fraction() }
      },
      cancel: async ({ runId }) => {
        const work = this.#work.get(runId)
        if (!work || this.#world.chance.happens(0.2)) throw new Error('the job cannot be stopped')
        // A provider may promise to stop a job, and finish it.
        if (this.#world.chance.happens(0.2)) return
        work.endsAtMs = this.#world.timeline.nowMs
        work.isHanging = false
        work.outcome = { kind: 'failed', code: 'cancelled', message: 'Cancelled.' }
      },
      close: async () => undefined,
    }
  }

  async #ended(work: Work) {
    const { timeline } = this.#world
    if (work.isHanging) await new Promise(() => undefined)
    await timeline.pass(work.endsAtMs - timeline.nowMs)
  }

  #workOf({ runId, input }: Job): Work {
    const { chance, timeline, faults } = this.#world
    const known = this.#work.get(runId)
    if (known) return known
    const isMissing = input['image_url'] !== undefined && !this.#world.readImage(String(input['image_url']))
    const outcome: ProviderOutcome =
      isMissing || chance.happens(faults.jobFails)
        ? { kind: 'failed', code: 'provider_error', message: 'It failed.', retryable: chance.happens(0.5) }
        : { kind: 'done', media: [{ mimeType: 'image/png', bytes: Buffer.from(runId) }] }
    const endsAtMs = timeline.nowMs + chance.between(1, chance.happens(0.2) ? 20_000 : 1_000)
    const work = { jobId: `job-${runId}`, endsAtMs, outcome, isHanging: chance.happens(faults.jobHangs) }
    this.#work.set(runId, work)
    return work
  }
}
