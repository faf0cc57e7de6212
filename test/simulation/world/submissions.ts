import type { Job, Provider } from '../../../src/ports/provider.ts'

/** The submissions that one process waits for. Each takes a slot until it is answered or given up. */
export class Submissions {
  readonly #open = new Map<string, Set<Job>>()
  readonly #onOpen: (provider: string, open: number, ofAccount: number, runId: string) => void

  /** `onOpen` is called at each submission with the number of those that are open at its provider. */
  constructor(onOpen: (provider: string, open: number, ofAccount: number, runId: string) => void) {
    this.#onOpen = onOpen
  }

  openAt(provider: string): number {
    return this.#open.get(provider)?.size ?? 0
  }

  /** A provider whose submissions are counted. */
  counted(name: string, provider: Provider): Provider {
    const open = new Set<Job>()
    this.#open.set(name, open)
    const submit: Provider['submit'] = async (job, signal) => {
      open.add(job)
      const end = () => open.delete(job)
      const ofAccount = [...open].filter(({ accountId }) => accountId === job.accountId).length
      this.#onOpen(name, open.size, ofAccount, job.runId)
      signal.addEventListener('abort', end)
      try {
        return await provider.submit(job, signal)
      } finally {
        signal.removeEventListener('abort', end)
        end()
      }
    }
    return { ...provider, submit }
  }
}
