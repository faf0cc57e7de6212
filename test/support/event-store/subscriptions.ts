import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { consumerTooSlow, Refused } from './faults.ts'
import { BATCH, type ServerLog, toPosition } from './log.ts'
import { toCaughtUp, toCheckpoint, toConfirmation, toFilter, toReadAnswer } from './messages.ts'

/** The default number of events that a filtered subscription scans before it sends a checkpoint. */
const DEFAULT_WINDOW = 32

/** The buffer of a live subscription for a slow consumer. */
const LIVE_EVENTS = 32

interface Subscription {
  server: ServerLog
  options: ReadReq.Options
  version: string
  /** Throws if this server must not serve the client's reads. */
  mayRead(): void
  signal: AbortSignal
}

/**
 * All events after a position, then new ones.
 *
 * When it goes live, 24.10.4 sends a checkpoint, without a position if it found nothing, and reports that it has caught
 * up; 23.10.6 only reports the latter. Of more than 32 events at once, 24.10.4 re-reads those that did not fit its
 * buffer; 23.10.6 delivers 32 and ends the subscription.
 */
export async function* subscribe({
  server,
  options,
  version,
  mayRead,
  signal,
}: Subscription): AsyncGenerator<ReadResp> {
  const all = options.getAll()
  const isNew = isAtLeast(version, 24, 0)
  let at = await startOf(server, options)
  // Only reading existing events requires the leader. A real server is never empty, so there are some after its start.
  const isBehind = all?.hasStart() || (!all?.hasEnd() && (!isNew || at < (await server.log.head())))
  if (isBehind && !isNew) mayRead()
  yield toConfirmation()

  const answers = new Answers(options, at, isNew)
  const goesLive = function* () {
    if (isNew && isBehind) yield* answers.atEnd()
    if (isAtLeast(version, 23, 10)) yield toCaughtUp()
  }
  for (let from: Position | undefined = isBehind ? at : undefined; from !== undefined; ) {
    mayRead()
    from = undefined
    for await (const page of server.log.readAll(at))
      for (const event of page) {
        from = at = event.position
        yield* answers.to(event, mayRead)
      }
  }
  yield* goesLive()

  for await (const page of server.log.follow(at, signal)) {
    const live = page.flatMap(event => [...answers.to(event)])
    yield* live.slice(0, LIVE_EVENTS)
    if (live.length <= LIVE_EVENTS) continue
    if (!isNew) throw new Refused(consumerTooSlow())
    mayRead()
    yield* live.slice(LIVE_EVENTS)
    yield* goesLive()
  }
}

/** The messages that a subscription sends for events. */
class Answers {
  readonly #options: ReadReq.Options
  readonly #matches: (event: RawEvent) => boolean
  readonly #window: number
  /** Whether the server sends a checkpoint only if its position is new. */
  readonly #isNew: boolean
  #lookedAt = 0
  #sent = 0
  #reached: Position
  #lastCheckpoint: Position | undefined

  constructor(options: ReadReq.Options, from: Position, isNew: boolean) {
    const filter = options.getFilter()
    this.#options = options
    this.#matches = toFilter(options)
    this.#window = (filter?.getMax() || DEFAULT_WINDOW) * (filter?.getCheckpointintervalmultiplier() || 1)
    this.#isNew = isNew
    this.#reached = from
  }

  *to(event: RawEvent, mayRead?: () => void): Generator<ReadResp> {
    if (this.#matches(event)) {
      if (this.#sent > 0 && this.#sent % BATCH === 0) mayRead?.()
      this.#sent += 1
      this.#reached = event.position
      yield toReadAnswer(event, this.#options)
    }
    this.#lookedAt += 1
    if (this.#lookedAt % this.#window === 0) yield* this.#checkpoint(event.position)
  }

  *atEnd(): Generator<ReadResp> {
    yield* this.#checkpoint(this.#reached)
  }

  *#checkpoint(position: Position): Generator<ReadResp> {
    if (!this.#options.hasFilter()) return
    const last = this.#lastCheckpoint
    if (this.#isNew && last !== undefined) {
      // The server treats "no position" as the highest, so no later one is new.
      if (last === BEFORE_FIRST || position <= last) return
    }
    this.#lastCheckpoint = position
    this.#reached = position
    yield toCheckpoint(position)
  }
}

/** The position in the embedded log after which a subscription starts. */
export const startOf = async (server: ServerLog, options: ReadReq.Options): Promise<Position> => {
  const all = options.getAll()
  if (!all) throw new Error('this server only supports subscriptions to all streams')
  if (all.hasStart()) return BEFORE_FIRST
  return all.hasEnd() ? server.log.head() : toPosition(commitOf(all))
}

export const commitOf = (all: ReadReq.Options.AllOptions): bigint => BigInt(all.getPosition()?.getCommitPosition() ?? 0)

const isAtLeast = (version: string, year: number, month: number): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > year || (major === year && minor >= month)
}
