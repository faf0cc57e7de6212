import {
  concatMap,
  type MonoTypeOperatorFunction,
  map,
  type SchedulerAction,
  type SchedulerLike,
  Subscription,
  takeWhile,
} from 'rxjs'
import type { Clock, Timer } from '../ports/clock.ts'

/** Runs the timers of RxJS on a clock. */
export const schedulerOf = (clock: Clock): SchedulerLike => ({
  now: () => clock.monotonicMs(),
  schedule: <State>(work: Work<State>, delayMs = 0, state?: State) =>
    new ClockAction(clock, work).schedule(state, delayMs),
})

type Work<State> = (this: SchedulerAction<State>, state: State) => void

class ClockAction<State> extends Subscription implements SchedulerAction<State> {
  readonly #clock: Clock
  readonly #work: Work<State>
  #timer: Timer | undefined

  constructor(clock: Clock, work: Work<State>) {
    super(() => this.#timer?.cancel())
    this.#clock = clock
    this.#work = work
  }

  schedule(state?: State, delayMs = 0): Subscription {
    if (this.closed) return this
    this.#timer?.cancel()
    this.#timer = this.#clock.timer(delayMs, () => {
      this.#timer = undefined
      this.#work.call(this, state as State)
      // Work that does not schedule itself again is done.
      if (!this.#timer) this.unsubscribe()
    })
    return this
  }
}

/** Like takeWhile of RxJS, with a condition that is asked for each value in turn. */
export const takeWhileAsync =
  <Value>(holds: () => Promise<boolean>): MonoTypeOperatorFunction<Value> =>
  source =>
    source.pipe(
      concatMap(async value => ({ value, isTaken: await holds() })),
      takeWhile(({ isTaken }) => isTaken),
      map(({ value }) => value),
    )
