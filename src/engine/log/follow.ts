import {
  concatMap,
  defer,
  ignoreElements,
  interval,
  merge,
  Observable,
  retry,
  type SchedulerLike,
  tap,
  timer,
} from 'rxjs'
import type { AnyEvent, Position, Recorded } from '../../../schemas/recorded.ts'
import type { Clock } from '../../ports/clock.ts'
import type { EventLog } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import { schedulerOf } from '../../time/observables.ts'
import type { Codec } from './codec.ts'

/** The waits between attempts after a drop, which double from the first to the longest. */
const FIRST_BACK_OFF_MS = 100
const MAX_BACK_OFF_MS = 5000

/** A follower that makes no progress for this long while the log grows has lost its subscription. */
const WATCHDOG_MS = 5000

/** How often a follower confirms that its stored rows are still there. */
const CONFIRM_MS = 1000

interface Follower<Event extends AnyEvent> {
  /** The position to continue from; called again after each drop. */
  from(): Promise<Position>
  /** Handles a page of events, in order and never twice. The next page is read only when this one is done. */
  take(events: Recorded<Event>[]): Promise<void>
  /** Throws if the stored rows are no longer there. */
  confirm?(): Promise<void>
  /** Called at each drop. Decides whether to reconnect at once. */
  onDrop(error: unknown): 'at once' | 'later'
}

/**
 * Follows the log from a position on, first the past and then live, and emits the positions that were handled. Never
 * completes.
 */
export const follow = <Event extends AnyEvent>(
  log: EventLog,
  codec: Codec<Event>,
  clock: Clock,
  follower: Follower<Event>,
): Observable<Position> => {
  const scheduler = schedulerOf(clock)
  return defer(() => follower.from()).pipe(
    concatMap(from => {
      let reached = from
      const pages = readPages(log, codec, from, follower).pipe(tap(position => (reached = position)))
      return merge(
        pages,
        watchdog(log, scheduler, () => reached),
        confirmations(scheduler, follower),
      )
    }),
    retry({
      resetOnSuccess: true,
      delay: (error, count) =>
        follower.onDrop(error) === 'at once'
          ? timer(0, scheduler)
          : timer(Math.min(FIRST_BACK_OFF_MS * 2 ** (count - 1), MAX_BACK_OFF_MS), scheduler),
    }),
  )
}

const readPages = <Event extends AnyEvent>(
  log: EventLog,
  codec: Codec<Event>,
  from: Position,
  follower: Follower<Event>,
): Observable<Position> =>
  new Observable(subscriber => {
    const stop = new AbortController()
    const read = async () => {
      let taken = from
      for await (const page of log.follow(from, stop.signal)) {
        // A page may come after the end, when the follower already continues from another position.
        if (stop.signal.aborted) return
        checkOrder(page, taken)
        const events = page.map(raw => codec.decode(raw))
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

const watchdog = (log: EventLog, scheduler: SchedulerLike, reached: () => Position): Observable<never> => {
  let headBefore = reached()
  let reachedBefore = reached()
  return interval(WATCHDOG_MS, scheduler).pipe(
    concatMap(async () => {
      // Events that were in the log a whole interval ago should be handled by now.
      if (reached() < headBefore && reached() === reachedBefore)
        throw new Error(`the follower makes no progress at position ${reached()}`)
      reachedBefore = reached()
      headBefore = await log.head()
    }),
    ignoreElements(),
  )
}

const confirmations = (scheduler: SchedulerLike, follower: Pick<Follower<never>, 'confirm'>): Observable<never> =>
  interval(CONFIRM_MS, scheduler).pipe(
    concatMap(async () => follower.confirm?.()),
    ignoreElements(),
  )

interface Placed {
  stream: string
  revision: number
  position: Position
}

/**
 * Throws Unavailable if the events are out of order in the log or in a stream, or do not follow `after`. A read that
 * resumes may repeat or swap events, and folding one twice would corrupt a state.
 */
export const checkOrder = (events: readonly Placed[], after: Position): void => {
  let reached = after
  const revisions = new Map<string, number>()
  for (const { stream, revision, position } of events) {
    if (position <= reached)
      throw new Unavailable(`the event log returned position ${position} after position ${reached}`, { part: 'log' })
    const before = revisions.get(stream)
    if (before !== undefined && revision !== before + 1)
      throw new Unavailable(`the event log returned revision ${revision} of ${stream} after revision ${before}`, {
        part: 'log',
      })
    reached = position
    revisions.set(stream, revision)
  }
}
