import { type Observable, Subject } from 'rxjs'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import { Semaphore } from '../../flow/semaphore.ts'

interface Holder {
  accountId: AccountId
  /** The provider whose permit it holds or has returned. */
  provider: string
  /** The provider that it counts for among the started runs. */
  readonly startedAt: string
}

/**
 * The concurrency limits of providers: a call needs a permit. A run that waits for something else returns its permit
 * meanwhile. An account may have twice as many started runs as permits; further runs wait in the queue, where no time
 * limit applies.
 */
export class ProviderPermits {
  readonly #permits: Semaphore
  readonly #started: Semaphore
  readonly #freed = new Subject<void>()
  readonly #holders = new Map<RunId, Holder>()
  /** Runs that have given their permits back for a while. */
  readonly #away = new Set<Holder>()

  /** Calls to one provider at a time. Further runs wait in the queue. */
  constructor(callsPerProvider: number) {
    this.#permits = new Semaphore({ each: callsPerProvider })
    this.#started = new Semaphore({ each: 2 * callsPerProvider })
  }

  /** Emits when a provider may have room for another run. */
  get freed(): Observable<void> {
    return this.#freed
  }

  /** Calls to a provider that are in progress. */
  countCalls(provider: string): number {
    return this.#permits.held(provider)
  }

  /** False if no permit is free for the account. */
  acquirePermit(provider: string, accountId: AccountId): boolean {
    if (!this.#started.tryAcquire(provider, accountId)) return false
    const isTaken = this.#permits.tryAcquire(provider, accountId)
    if (!isTaken) this.#started.release(provider, accountId)
    return isTaken
  }

  /** Returns a permit that no run holds. */
  releasePermit(provider: string, accountId: AccountId) {
    this.declinePermit(provider, accountId)
    this.#freed.next()
  }

  /** Returns the permit of a run that cannot start now. Emits nothing, so that the run is not retried at once. */
  declinePermit(provider: string, accountId: AccountId) {
    this.#started.release(provider, accountId)
    this.#permits.release(provider, accountId)
  }

  /** Makes a run the holder of an acquired permit. */
  assignPermit(runId: RunId, provider: string, accountId: AccountId) {
    this.#holders.set(runId, { accountId, provider, startedAt: provider })
  }

  /** Exchanges the permit of a run for one of another provider. False if none is free for the account. */
  movePermit(runId: RunId, provider: string): boolean {
    const run = this.#holders.get(runId)
    if (!run || run.provider === provider) return true
    if (!this.#permits.tryAcquire(provider, run.accountId)) return false
    this.#permits.release(run.provider, run.accountId)
    run.provider = provider
    this.#freed.next()
    return true
  }

  /** Exchanges the permit as soon as one is free. Rejects if the signal aborts first. */
  async awaitPermit(runId: RunId, provider: string, signal: AbortSignal): Promise<void> {
    const run = this.#holders.get(runId)
    if (!run || run.provider === provider) return
    this.suspendPermit(runId)
    run.provider = provider
    await this.resumePermit(runId, signal)
  }

  releaseRun(runId: RunId) {
    const run = this.#holders.get(runId)
    if (!run) return
    this.#holders.delete(runId)
    this.#started.release(run.startedAt, run.accountId)
    if (!this.#away.delete(run)) this.#permits.release(run.provider, run.accountId)
    this.#freed.next()
  }

  /** Returns the permit of a run, if it holds one, until `resumePermit`. */
  suspendPermit(runId: RunId) {
    const run = this.#holders.get(runId)
    if (!run || this.#away.has(run)) return
    this.#away.add(run)
    this.#permits.release(run.provider, run.accountId)
    this.#freed.next()
  }

  /** Acquires a permit for a run whose permit is suspended. Rejects if the signal aborts. */
  async resumePermit(runId: RunId, signal: AbortSignal): Promise<void> {
    const run = this.#holders.get(runId)
    if (!run || !this.#away.has(run)) return
    await this.#permits.acquire(run.provider, run.accountId, signal)
    // The run may have ended meanwhile.
    if (!this.#away.delete(run)) this.#permits.release(run.provider, run.accountId)
  }
}
