import { concatMap, defer, ignoreElements, interval, merge, Observable, retry, tap, timer } from 'rxjs'
import type { Position, Recorded } from '../../../schemas/recorded.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { checkOrder } from './check-order.ts'
import { decode } from './codec.ts'

/** The waits between attempts after a drop: from a tenth of a second, doubling, to five. */
const FIRST_BACK_OFF_MS = 100
const MAX_BACK_OFF_MS = 5000

/** A follower that stands still for so long while the log goes on is taken to have lost its subscription. */
const WATCHDOG_MS = 5000

/** How often a follower confirms that what it took is still there. */
const CONFIRM_MS = 1000

export interface Follower {
  /** Where to go on; asked again after each drop. */
  from(): Promise<Position>
  /** Takes a page of events, in order and never twice. The next page is read only when this one is taken. */
  take(events: Recorded[]): Promise<void>
  /** Throws when what was taken is no longer where it was put. */
  confirm?(): Promise<void>
  /** Told of each drop, and whether to come back at once. */
  onDrop(error: unknown): 'at once' | 'later'
}

/** The log from a position on, catch-up and then live, as the positions that were taken. It never ends by itself. */
export const follow = (log: EventLog, follower: Follower): Observable<Position> =>
  defer(() => follower.from()).pipe(
    concatMap(from => {
      let reached = from
      const pages = readPages(log, from, follower).pipe(tap(position => (reached = position)))
      return merge(
        pages,
        watchdog(log, () => reached),
        confirmations(follower),
      )
    }),
    retry({
      resetOnSuccess: true,
      delay: (error, count) =>
        follower.onDrop(error) === 'at once'
          ? timer(0)
          : timer(Math.min(FIRST_BACK_OFF_MS * 2 ** (count - 1), MAX_BACK_OFF_MS)),
    }),
  )

const readPages = (log: EventLog, from: Position, follower: Follower): Observable<Position> =>
  new Observable(subscriber => {
    const stop = new AbortController()
    const read = async () => {
      let taken = from
      for await (const page of log.follow(from, stop.signal)) {
        checkOrder(page, taken)
        const events = page.map(raw => decode(raw))
        await follower.take(events)
        taken = events.at(-1)?.position ?? taken
        if (events.length > 0) subscriber.next(taken)
      }
      if (!stop.signal.aborted) throw new Error('the log ended a subscription')
    }
    read().then(
      () => subscriber.complete(),
      error => subscriber.error(error),
    )
    return () => stop.abort()
  })

const watchdog = (log: EventLog, reached: () => Position): Observable<never> => {
  let headBefore = reached()
  let reachedBefore = reached()
  return interval(WATCHDOG_MS).pipe(
    concatMap(async () => {
      // Only what was there a whole interval ago must be taken by now, if nothing was taken since.
      if (reached() < headBefore && reached() === reachedBefore)
        throw new Error(`the follower stands still at position ${reached()}`)
      reachedBefore = reached()
      headBefore = await log.head()
    }),
    ignoreElements(),
  )
}

const confirmations = (follower: Follower): Observable<never> =>
  interval(CONFIRM_MS).pipe(
    concatMap(async () => follower.confirm?.()),
    ignoreElements(),
  )
