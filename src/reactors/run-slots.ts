import { type Observable, Subject } from 'rxjs'
import type { AccountId, RunId } from '../../schemas/primitives.ts'
import type { WatchTask } from '../../schemas/views.ts'
import { Slots } from './slots.ts'

/** The default of `slotsPerProvider`: half of them are more than most vendors allow one customer. */
const SLOTS_PER_PROVIDER = 128

type Holder = Pick<WatchTask, 'runId' | 'provider' | 'accountId'>

/** The slots of providers. A run that waits for something else gives its slot back meanwhile. */
export class RunSlots {
  readonly #slots: Slots
  readonly #freed = new Subject<void>()
  readonly #holders = new Map<RunId, Holder>()
  /** Runs that have given their slots back for a while. */
  readonly #away = new Set<Holder>()

  /** Calls to one provider at a time. Further runs wait in the queue. */
  constructor(slotsPerProvider = SLOTS_PER_PROVIDER) {
    this.#slots = new Slots({ each: slotsPerProvider })
  }

  /** Emits when a provider may have room for another run. */
  get freed(): Observable<void> {
    return this.#freed
  }

  /** Takes one of the provider's slots; false if none is free for the account. */
  reserve(provider: string, accountId: AccountId): boolean {
    return this.#slots.take(provider, accountId)
  }

  /** Frees a reserved slot that no run holds. */
  unreserve(provider: string, accountId: AccountId) {
    this.decline(provider, accountId)
    this.#freed.next()
  }

  /** Frees the slot of a run that cannot start now. Emits nothing, so that it is not retried at once. */
  decline(provider: string, accountId: AccountId) {
    this.#slots.free(provider, accountId)
  }

  /** Makes a run the holder of a reserved slot. */
  hold(run: Holder) {
    this.#holders.set(run.runId, run)
  }

  release(run: Holder) {
    this.#holders.delete(run.runId)
    if (!this.#away.delete(run)) this.#slots.free(run.provider, run.accountId)
    this.#freed.next()
  }

  /** Does work without the slot that a run holds, if it holds one. Rejects if the signal aborts. */
  async without<Result>(runId: RunId, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const run = this.#holders.get(runId)
    if (!run || this.#away.has(run)) return work()
    this.#away.add(run)
    this.#slots.free(run.provider, run.accountId)
    this.#freed.next()
    try {
      return await work()
    } finally {
      await this.#retake(run, signal)
    }
  }

  async #retake(run: Holder, signal: AbortSignal) {
    if (!this.#away.has(run)) return
    await this.#slots.acquire(run.provider, run.accountId, signal)
    // The run may have ended meanwhile.
    if (!this.#away.delete(run)) this.#slots.free(run.provider, run.accountId)
  }
}
