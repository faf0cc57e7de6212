import { type Observable, Subject } from 'rxjs'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { WatchTask } from '../../schemas/views.ts'
import { Slots } from './slots.ts'

/** The default of `slotsPerProvider`: half of them are more than most vendors allow one customer. */
const SLOTS_PER_PROVIDER = 128

type Holder = Pick<WatchTask, 'runId' | 'provider' | 'accountId'>

/**
 * The slots of providers. A run that waits for something else gives its slot back meanwhile. An account may have twice
 * as many runs started as it may hold slots; the others stay in the queue, where no time limit runs.
 */
export class RunSlots {
  readonly #slots: Slots
  readonly #started: Slots
  readonly #freed = new Subject<void>()
  readonly #holders = new Map<RunId, Holder>()
  /** Runs that have given their slots back for a while. */
  readonly #away = new Set<Holder>()

  /** Calls to one provider at a time. Further runs wait in the queue. */
  constructor(slotsPerProvider = SLOTS_PER_PROVIDER) {
    this.#slots = new Slots({ each: slotsPerProvider })
    this.#started = new Slots({ each: 2 * slotsPerProvider })
  }

  /** Emits when a provider may have room for another run. */
  get freed(): Observable<void> {
    return this.#freed
  }

  /** Takes one of the provider's slots; false if none is free for the account. */
  reserve(provider: string, accountId: AccountId): boolean {
    if (!this.#started.take(provider, accountId)) return false
    const isTaken = this.#slots.take(provider, accountId)
    if (!isTaken) this.#started.free(provider, accountId)
    return isTaken
  }

  /** Frees a reserved slot that no run holds. */
  unreserve(provider: string, accountId: AccountId) {
    this.decline(provider, accountId)
    this.#freed.next()
  }

  /** Frees the slot of a run that cannot start now. Emits nothing, so that it is not retried at once. */
  decline(provider: string, accountId: AccountId) {
    this.#started.free(provider, accountId)
    this.#slots.free(provider, accountId)
  }

  /** Makes a run the holder of a reserved slot. */
  hold(run: Holder) {
    this.#holders.set(run.runId, run)
  }

  release(run: Holder) {
    this.#holders.delete(run.runId)
    this.#started.free(run.provider, run.accountId)
    if (!this.#away.delete(run)) this.#slots.free(run.provider, run.accountId)
    this.#freed.next()
  }

  /** Gives back the slot that a run holds, if it holds one, until it takes one again. */
  leave(runId: RunId) {
    const run = this.#holders.get(runId)
    if (!run || this.#away.has(run)) return
    this.#away.add(run)
    this.#slots.free(run.provider, run.accountId)
    this.#freed.next()
  }

  /** Takes a slot again for a run that has left its own. Rejects if the signal aborts. */
  async retake(runId: RunId, signal: AbortSignal): Promise<void> {
    const run = this.#holders.get(runId)
    if (!run || !this.#away.has(run)) return
    await this.#slots.acquire(run.provider, run.accountId, signal)
    // The run may have ended meanwhile.
    if (!this.#away.delete(run)) this.#slots.free(run.provider, run.accountId)
  }
}
