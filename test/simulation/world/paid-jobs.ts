import type { Provider } from '../../../src/ports/provider.ts'

/** The jobs at a vendor that bills each submission, of all processes together. */
export class PaidJobs {
  readonly #mayBeAccepted = new Set<string>()
  readonly #violation: (what: string) => void

  constructor(violation: (what: string) => void) {
    this.#violation = violation
  }

  /** Whether the vendor may have accepted a run, or has accepted it. */
  mayBeAccepted(runId: string): boolean {
    return this.#mayBeAccepted.has(runId)
  }

  /** A provider to which no run may be submitted again, once it may have accepted it. */
  billed(provider: Provider): Provider {
    return {
      ...provider,
      submit: async (job, signal) => {
        const { runId } = job
        if (this.#mayBeAccepted.has(runId)) this.#violation(`${runId} is submitted twice to a vendor that bills twice`)
        this.#mayBeAccepted.add(runId)
        const answer = await provider.submit(job, signal)
        if (answer.kind === 'failed') this.#mayBeAccepted.delete(runId)
        return answer
      },
    }
  }
}
