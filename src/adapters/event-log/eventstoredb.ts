import type { AccountId } from '../../../schemas/primitives.ts'
import { accountStream, CATALOG_STREAM, loginStream, type Position, type RawEvent } from '../../../schemas/recorded.ts'
import { type Appended, BEFORE_FIRST, type EventLog, type NewEvent } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import type { EventStoreAddress } from './eventstoredb/address.ts'
import { AppendQueue } from './eventstoredb/append-queue.ts'
import { Connection } from './eventstoredb/connection.ts'
import { FellBehind } from './eventstoredb/faults.ts'
import { type Selection, type ServerEvent, toAppendRequest, toText } from './eventstoredb/messages.ts'
import { inPages } from './eventstoredb/pages.ts'

/** A page ends at so many events or bytes, so that neither small nor large events make it slow or heavy. */
const PAGE_EVENTS = 1000
const PAGE_BYTES = 4 * 1024 * 1024

/** More does not fit into one message to a server, and would end the call that all appends share. */
const MAX_APPEND_BYTES = 3 * 1024 * 1024

/** Most elections are over by then, and a server that was killed is back. */
const LEADER_TIMEOUT_MS = 5000

/** The server gives an append up after two seconds, so that one which takes this long is no good sign. */
const SLOW_AFTER_MS = 1500

/** The server is given the time to say itself that it gave an append up. */
const APPEND_TIMEOUT_MS = 5000

/** A read that finds little has much to look through, and nobody is left in doubt when it is given up. */
const READ_TIMEOUT_MS = 10_000

export interface EventStoreOptions {
  address: EventStoreAddress
  leaderTimeoutMs?: number
  slowAfterMs?: number
  appendTimeoutMs?: number
  /** How long the server may be silent in a read. */
  readTimeoutMs?: number
}

/**
 * The event log on an EventStoreDB server or cluster, for any number of processes anywhere. It connects when it is first
 * asked for something.
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
  const appends = new AppendQueue<Appended>()
  /** Nothing of ours lies after the one position up to the other, so that need not be looked through again. */
  let skippable = { after: BEFORE_FIRST, upTo: BEFORE_FIRST }

  const parse = (bytes: Uint8Array, { stream, revision }: ServerEvent): unknown => {
    try {
      return JSON.parse(toText(bytes))
    } catch (cause) {
      const place = `revision ${revision} of ${stream}`
      throw new Damaged(`EventStoreDB at ${server} holds no JSON at ${place}; restore it from a backup`, { cause })
    }
  }

  // Written out, since this is done for each event of a replay.
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
    yield* inPages<RawEvent>(
      (sink, stop) =>
        connection.read(
          selection,
          {
            begins: sink.control,
            confirmed: sink.mayPause,
            event: event => {
              reached = event.position
              sink.push(toRawEvent(event), event.data.length + event.metadata.length)
            },
            checkpoint: position => {
              skippable = { after: reached, upTo: position }
            },
          },
          stop,
        ),
      {
        items: PAGE_EVENTS,
        bytes: PAGE_BYTES,
        slowAfterMs,
        slow: () => connection.suspect(),
        silentAfterMs: readTimeoutMs,
        silent: () => new Unavailable(`EventStoreDB at ${server} did not answer a read within ${readTimeoutMs} ms`),
      },
      signal,
    )
  }

  const readAll = (after: Position, signal?: AbortSignal) => read({ matching, after, live: false }, signal)

  async function* follow(after: Position, signal: AbortSignal): AsyncGenerator<RawEvent[]> {
    let reached = after === skippable.after ? skippable.upTo : after
    while (!signal.aborted)
      try {
        // What is there comes in full pages, and what is new at once.
        for (const live of [false, true])
          for await (const page of read({ matching, after: reached, live }, signal)) {
            reached = (page.at(-1) as RawEvent).position
            yield page
          }
        return
      } catch (error) {
        if (!(error instanceof FellBehind)) throw error
      }
  }

  const append = async (stream: string, events: NewEvent[], expectedRevision: number): Promise<Appended> => {
    const { request, bytes } = toAppendRequest(streamPrefix + stream, events, expectedRevision)
    if (bytes > MAX_APPEND_BYTES) throw new RangeError(`an append of ${bytes} bytes is larger than any that we make`)
    return appends.add(stream, bytes, async () => {
      const { revision, position } = await connection.append({ stream, expectedRevision, request })
      return { revision, position: position ?? (await findPosition(stream, revision)) }
    })
  }

  /** The events are written, so whatever fails here must not look as if they were not. */
  const findPosition = async (stream: string, revision: number): Promise<Position> => {
    const [event] = await readFirst({ stream: streamPrefix + stream, fromRevision: revision }).catch(cause => {
      throw new Error(`EventStoreDB at ${server} took an append to ${stream}, and does not say where it is`, { cause })
    })
    if (!event) throw new Error(`EventStoreDB at ${server} took an append to ${stream}, and does not have it`)
    return event.position
  }

  const readFirst = async (selection: Selection): Promise<RawEvent[]> => {
    for await (const page of read(selection)) return page
    return []
  }

  return {
    append,
    readStream: (stream, fromRevision) => read({ stream: streamPrefix + stream, fromRevision }),
    readAll: after => readAll(after),
    follow,
    head: async () => (await readFirst({ matching, last: true }))[0]?.position ?? BEFORE_FIRST,

    close: async () => {
      await appends.settled()
      connection.close()
    },
  }
}

/** The names of our streams, as a regular expression of the server's. */
const matchOurs = (streamPrefix: string): string => {
  const kinds = [accountStream('' as AccountId), loginStream(''), `${CATALOG_STREAM}$`]
  return `^${streamPrefix.replaceAll('.', '\\.')}(${kinds.join('|')})`
}
