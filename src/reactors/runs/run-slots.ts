import { type Observable, Subject } from 'rxjs'
import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import { Semaphore } from '../../flow/semaphore.ts'

interface Holder {
  accountId: AccountId
  /** The provider whose slot it holds or has left. */
  provider: string
  /** The provider that it counts for among the started runs. */
  readonly startedAt: string
}

/**
 * The slots of providers. A run that waits for something else gives its slot back meanwhile. An account may have twice
 * as many runs started as it may hold slots; the others stay in the queue, where no time limit runs.
 */
export class RunSlots {
  readonly #slots: Semaphore
  readonly #started: Semaphore
  readonly #freed = new Subject<void>()
  readonly #holders = new Map<RunId, Holder>()
  /** Runs that have given their slots back for a while. */
  readonly #away = new Set<Holder>()

  /** Calls to one provider at a time. Further runs wait in the queue. */
  constructor(slotsPerProvider: number) {
    this.#slots = new Semaphore({ each: slotsPerProvider })
    this.#started = new Semaphore({ each: 2 * slotsPerProvider })
  }

  /** Emits when a provider may have room for another run. */
  get freed(): Observable<void> {
    return this.#freed
  }

  /** Calls to a provider that are in progress. */
  inUse(provider: string): number {
    return this.#slots.held(provider)
  }

  /** Takes one of the provider's slots; false if none is free for the account. */
  reserve(provider: string, accountId: AccountId): boolean {
    if (!this.#started.tryAcquire(provider, accountId)) return false
    const isTaken = this.#slots.tryAcquire(provider, accountId)
    if (!isTaken) this.#started.release(provider, accountId)
    return isTaken
  }

  /** Frees a reserved slot that no run holds. */
  unreserve(provider: string, accountId: AccountId) {
    this.decline(provider, accountId)
    this.#freed.next()
  }

  /** Frees the slot of a run that cannot start now. Emits nothing, so that it is not retried at once. */
  decline(provider: string, accountId: AccountId) {
    this.#started.release(provider, accountId)
    this.#slots.release(provider, accountId)
  }

  /** Makes a run the holder of a reserved slot. */
  hold(runId: RunId, provider: string, accountId: AccountId) {
    this.#holders.set(runId, { accountId, provider, startedAt: provider })
  }

  /** Exchanges the slot of a run for one of another provider. False if none is free for the account. */
  move(runId: RunId, provider: string): boolean {
    const run = this.#holders.get(runId)
    if (!run || run.provider === provider) return true
    if (!this.#slots.tryAcquire(provider, run.accountId)) return false
    this.#slots.release(run.provider, run.accountId)
    run.provider = provider
    this.#freed.next()
    return true
  }

  /** The same as soon as one is free. Rejects if the signal aborts first. */
  async moveInTurn(runId: RunId, provider: string, signal: AbortSignal): Promise<void> {
    const run = this.#holders.get(runId)
    if (!run || run.provider === provider) return
    this.leave(runId)
    run.provider = provider
    await this.retake(runId, signal)
  }

  release(runId: RunId) {
    const run = this.#holders.get(runId)
    if (!run) return
    this.#holders.delete(runId)
    this.#started.release(run.startedAt, run.accountId)
    if (!this.#away.delete(run)) this.#slots.release(run.provider, run.accountId)
    this.#freed.next()
  }

  /** Gives back the slot that a run holds, if it holds one, until it takes one again. */
  leave(runId: RunId) {
    const run = this.#holders.get(runId)
    if (!run || this.#away.has(run)) return
    this.#away.add(run)
    this.#slots.release(run.provider, run.accountId)
    this.#freed.next()
  }

  /** Takes a slot again for a run that has left its own. Rejects if the signal aborts. */
  async retake(runId: RunId, signal: AbortSignal): Promise<void> {
    const run = this.#holders.get(runId)
    if (!run || !this.#away.has(run)) return
    await this.#slots.acquire(run.provider, run.accountId, signal)
    // The run may have ended meanwhile.
    if (!this.#away.delete(run)) this.#slots.release(run.provider, run.accountId)
  }
}
