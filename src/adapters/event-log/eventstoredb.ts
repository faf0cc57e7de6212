import { streamsOf } from '../../../schemas/events.ts'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { type AppendResult, BEFORE_FIRST, type EventLog, type NewEvent } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import type { EventStoreAddress } from './eventstoredb/address.ts'
import { AppendQueue } from './eventstoredb/append-queue.ts'
import { Connection } from './eventstoredb/connection.ts'
import { FellBehind } from './eventstoredb/faults.ts'
import { type Selection, type ServerEvent, toAppendMessage, toText } from './eventstoredb/messages.ts'
import { paginate } from './eventstoredb/pages.ts'

/** A page ends at either limit, so that neither many events nor large events make it slow. */
const PAGE_EVENTS = 1000
const PAGE_BYTES = 4 * 1024 * 1024

/** Larger messages exceed the server's limit and would break the call that all appends share. */
const MAX_APPEND_BYTES = 3 * 1024 * 1024

/** How long a request waits for a leader. Elections on real servers took 4 to 7 s. */
const LEADER_TIMEOUT_MS = 8000

/** The server times an append out after 2 s, so 1.5 s already suggests a stuck leader. */
const SLOW_AFTER_MS = 1500

/** Longer than the server's own timeout, so that the server reports it first. */
const APPEND_TIMEOUT_MS = 5000

/** A read may scan many foreign events before it finds one of this log. A timeout leaves nothing in doubt. */
const READ_TIMEOUT_MS = 8000

export interface EventStoreOptions {
  address: EventStoreAddress
  leaderTimeoutMs?: number
  slowAfterMs?: number
  appendTimeoutMs?: number
  /** How long the server may be silent in a read. */
  readTimeoutMs?: number
}

/**
 * The event log on an EventStoreDB server or cluster, for any number of processes on any machines. Connects on first
 * use.
 */
export const openEventStoreLog = ({
  address,
  leaderTimeoutMs = LEADER_TIMEOUT_MS,
  slowAfterMs = SLOW_AFTER_MS,
  appendTimeoutMs = APPEND_TIMEOUT_MS,
  readTimeoutMs = READ_TIMEOUT_MS,
}: EventStoreOptions): EventLog => {
  const { server, streamPrefix } = address
  const connection = new Connection(address, { leaderTimeoutMs, slowAfterMs, appendTimeoutMs })
  const matching = matchOurs(streamPrefix)
  const appends = new AppendQueue<AppendResult>()
  /** This log has no events between these two positions, so followers skip the range. */
  let skippable = { after: BEFORE_FIRST, upTo: BEFORE_FIRST }

  const parse = (bytes: Uint8Array, { stream, revision }: ServerEvent): unknown => {
    try {
      return JSON.parse(toText(bytes))
    } catch (cause) {
      const place = `revision ${revision} of ${stream}`
      throw new Damaged(`EventStoreDB at ${server} holds invalid JSON at ${place}; restore it from a backup`, { cause })
    }
  }

  // No object spread: this runs for every event of a replay.
  const toRawEvent = (event: ServerEvent): RawEvent => ({
    id: event.id,
    stream: event.stream.slice(streamPrefix.length),
    revision: event.revision,
    position: event.position,
    type: event.type,
    data: parse(event.data, event),
    metadata: parse(event.metadata, event),
  })

  async function* read(selection: Selection, signal?: AbortSignal): AsyncGenerator<RawEvent[]> {
    let reached = 'after' in selection ? selection.after : BEFORE_FIRST
    yield* paginate<RawEvent>(
      (sink, stop) =>
        connection.read(
          selection,
          {
            begins: sink.setFlow,
            confirmed: sink.live,
            event: event => {
              reached = event.position
              sink.push(toRawEvent(event), event.data.length + event.metadata.length)
            },
            checkpoint: position => {
              if ('after' in selection) skippable = { after: reached, upTo: position }
            },
          },
          stop,
        ),
      {
        items: PAGE_EVENTS,
        bytes: PAGE_BYTES,
        slowAfterMs,
        onSlow: () => connection.verifyLeader(),
        timeoutMs: readTimeoutMs,
        toTimeout: () =>
          new Unavailable(`EventStoreDB at ${server} did not answer a read within ${readTimeoutMs} ms`, {
            part: 'log',
          }),
      },
      signal,
    )
  }

  async function* follow(after: Position, signal: AbortSignal): AsyncGenerator<RawEvent[]> {
    let reached = after === skippable.after ? skippable.upTo : after
    while (!signal.aborted) {
      const from = reached
      try {
        // Existing events come in full pages, and new events as soon as they arrive.
        for (const live of [false, true])
          for await (const page of read({ matching, after: reached, live }, signal)) {
            reached = (page.at(-1) as RawEvent).position
            yield page
          }
        return
      } catch (error) {
        // A subscription that ends without any progress must not be resumed at once.
        if (!(error instanceof FellBehind) || reached === from) throw error
      }
    }
  }

  const append = async (stream: string, events: NewEvent[], expectedRevision: number): Promise<AppendResult> => {
    const { message, bytes } = toAppendMessage(streamPrefix + stream, events, expectedRevision)
    if (bytes > MAX_APPEND_BYTES)
      throw new RangeError(`an append of ${bytes} bytes exceeds the limit of ${MAX_APPEND_BYTES}`)
    return appends.add(stream, bytes, async () => {
      const { revision, position } = await connection.append({ stream, expectedRevision, message })
      return { revision, position: position ?? (await findPosition(stream, revision)) }
    })
  }

  /** The events are written, so a failure here must not be Unavailable, which would mean that nothing was written. */
  const findPosition = async (stream: string, revision: number): Promise<Position> => {
    const event = await readEvent(stream, revision).catch(cause => {
      throw new Error(`EventStoreDB at ${server} accepted an append to ${stream}, but its position could not be read`, {
        cause,
      })
    })
    if (!event) throw new Error(`EventStoreDB at ${server} accepted an append to ${stream}, but does not return it`)
    return event.position
  }

  const readEvent = async (stream: string, revision: number): Promise<RawEvent | undefined> =>
    (await readFirst({ stream: streamPrefix + stream, fromRevision: revision, limit: 1 }))[0]

  const readFirst = async (selection: Selection): Promise<RawEvent[]> => {
    for await (const page of read(selection)) return page
    return []
  }

  return {
    append,
    readStream: (stream, fromRevision) => read({ stream: streamPrefix + stream, fromRevision }),
    readEvent,
    readAll: after => read({ matching, after, live: false }),
    follow,
    head: async () => (await readFirst({ matching, last: true }))[0]?.position ?? BEFORE_FIRST,

    close: async () => {
      await appends.settled()
      connection.close()
    },
  }
}

/** A regular expression with which the server matches the names of this log's streams. */
const matchOurs = (streamPrefix: string): string => {
  const kinds = Object.entries(streamsOf).map(([category, streams]) => `${category}${streams === 'one' ? '$' : '-'}`)
  return `^${streamPrefix.replaceAll('.', '\\.')}(${kinds.join('|')})`
}
