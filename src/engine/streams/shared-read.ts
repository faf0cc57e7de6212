import type { Clock } from '../../ports/clock.ts'
import { Unavailable } from '../../ports/faults.ts'
import { withinTime } from '../../time/timers.ts'

/** How long readers wait for the log before they get the last known state. A read usually takes milliseconds. */
const MAX_WAIT_MS = 500

interface Read<State> {
  startMs: number
  /** Until when readers wait for it. Reads that start while an earlier one is in progress share its end. */
  endMs: number
  state: Promise<State>
}

/** Reads of one stream that its readers share, and for which they wait only briefly. */
export class SharedRead<State> {
  readonly #clock: Clock
  readonly #load: () => Promise<State>
  #latest: Read<State> | undefined

  constructor(clock: Clock, load: () => Promise<State>) {
    this.#clock = clock
    this.#load = load
  }

  /**
   * The state by a read that began since `sinceMs`, on the monotonic clock. If the log is unavailable or slow, resolves
   * to `lastKnown` instead; without it, the read takes as long as it does.
   */
  async since(sinceMs: number, lastKnown: (() => State) | undefined): Promise<State> {
    const { state, endMs } = this.#readSince(sinceMs)
    if (!lastKnown) return state
    return withinTime(this.#clock, state, endMs - this.#clock.monotonicMs(), lastKnown).catch(error => {
      if (error instanceof Unavailable) return lastKnown()
      throw error
    })
  }

  /** A read that began since `sinceMs`, or an earlier read that has become slow. */
  #readSince(sinceMs: number): Read<State> {
    const startMs = this.#clock.monotonicMs()
    const earlier = this.#latest
    if (earlier && (earlier.startMs >= sinceMs || earlier.endMs <= startMs)) return earlier
    const read = { startMs, endMs: earlier?.endMs ?? startMs + MAX_WAIT_MS, state: this.#load() }
    this.#latest = read
    const end = () => {
      if (this.#latest === read) this.#latest = undefined
    }
    read.state.then(end, end)
    return read
  }
}
