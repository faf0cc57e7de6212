import type { AccountId } from '../../../schemas/primitives.ts'
import { accountStream, CATALOG_STREAM, loginStream, type Position, type RawEvent } from '../../../schemas/recorded.ts'
import { type Appended, BEFORE_FIRST, type EventLog, type NewEvent } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { Connection, type Selection, type ServerEvent } from './eventstoredb-connection.ts'
import { inPages } from './eventstoredb-pages.ts'
import { parseEventStoreUrl } from './eventstoredb-url.ts'

/** A page ends at so many events or bytes, so that neither small nor large events make it slow or heavy. */
const PAGE_EVENTS = 1000
const PAGE_BYTES = 4 * 1024 * 1024

export interface EventStoreOptions {
  /** See parseEventStoreUrl. */
  url: string
  /** Some broken connections neither answer nor fail. The server itself gives an append up after about two seconds. */
  appendTimeoutMs?: number
  readTimeoutMs?: number
}

/** Appends that may be under way; past this the server is not keeping up. */
const MAX_WAITING = 50_000

/**
 * The event log on an EventStoreDB server or cluster, for any number of processes anywhere. It connects when it is first
 * asked for something. Throws a TypeError for an address that cannot be read.
 */
export const openEventStoreLog = ({
  url,
  appendTimeoutMs = 5000,
  readTimeoutMs = 10_000,
}: EventStoreOptions): EventLog => {
  const address = parseEventStoreUrl(url)
  const { server, streamPrefix } = address
  const connection = new Connection(address)
  const matching = matchOurs(streamPrefix)
  const waiting = new Set<Promise<Appended>>()
  const lastAppends = new Map<string, Promise<unknown>>()
  /** Nothing of ours lies after the one position up to the other, so that need not be looked through again. */
  let skippable = { after: BEFORE_FIRST, upTo: BEFORE_FIRST }

  const toRawEvent = ({ stream, data, metadata, ...event }: ServerEvent): RawEvent => {
    const parse = (bytes: Uint8Array): unknown => {
      try {
        return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
      } catch (cause) {
        const place = `revision ${event.revision} of ${stream}`
        throw new Damaged(`EventStoreDB at ${server} holds no JSON at ${place}; restore it from a backup`, { cause })
      }
    }
    return { ...event, stream: stream.slice(streamPrefix.length), data: parse(data), metadata: parse(metadata) }
  }

  async function* read(selection: Selection, signal?: AbortSignal): AsyncGenerator<RawEvent[]> {
    let reached = 'after' in selection ? selection.after : BEFORE_FIRST
    const pages = inPages<ServerEvent>(
      (sink, signal) =>
        connection.read(
          selection,
          {
            begins: sink.control,
            confirmed: sink.mayPause,
            event: event => {
              reached = event.position
              sink.push(event, event.data.length + event.metadata.length)
            },
            checkpoint: position => {
              skippable = { after: reached, upTo: position }
            },
          },
          signal,
        ),
      {
        items: PAGE_EVENTS,
        bytes: PAGE_BYTES,
        silenceMs: readTimeoutMs,
        silent: () => new Unavailable(`EventStoreDB at ${server} did not answer a read within ${readTimeoutMs} ms`),
      },
      signal,
    )
    for await (const page of pages) yield page.map(toRawEvent)
  }

  async function* readAll(after: Position): AsyncGenerator<RawEvent[]> {
    for await (const page of read({ matching, from: after })) {
      const events = page.filter(({ position }) => position > after)
      if (events.length > 0) yield events
    }
  }

  const append = async (stream: string, events: NewEvent[], expectedRevision: number): Promise<Appended> => {
    const stop = new AbortController()
    const tooLate = new Error(`EventStoreDB at ${server} did not answer an append within ${appendTimeoutMs} ms`)
    const timer = setTimeout(() => stop.abort(tooLate), appendTimeoutMs)
    try {
      const { revision, position } = await connection.append(
        streamPrefix + stream,
        events,
        expectedRevision,
        stop.signal,
      )
      return { revision, position: position ?? (await findPosition(stream, revision)) }
    } finally {
      clearTimeout(timer)
    }
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
    append: (stream, events, expectedRevision) => {
      if (waiting.size >= MAX_WAITING) return Promise.reject(new Unavailable('too many appends wait for the event log'))
      // The server takes requests in any order, so those for one stream are made one after another.
      const write = () => append(stream, events, expectedRevision)
      const appended = (lastAppends.get(stream) ?? Promise.resolve()).then(write, write)
      lastAppends.set(stream, appended)
      waiting.add(appended)
      const forget = () => {
        waiting.delete(appended)
        if (lastAppends.get(stream) === appended) lastAppends.delete(stream)
      }
      appended.then(forget, forget)
      return appended
    },

    readStream: (stream, fromRevision) => read({ stream: streamPrefix + stream, fromRevision }),

    readAll,

    async *follow(after, signal) {
      let from = after === skippable.after ? skippable.upTo : after
      // What is there comes in full pages, and what is new at once.
      for await (const page of readAll(from)) {
        from = (page.at(-1) as RawEvent).position
        yield page
        if (signal.aborted) return
      }
      yield* read({ matching, after: from, live: true }, signal)
    },

    head: async () => (await readFirst({ matching, last: true }))[0]?.position ?? BEFORE_FIRST,

    close: async () => {
      await Promise.allSettled(waiting)
      await connection.close()
    },
  }
}

/** The names of our streams, as a regular expression of the server's. */
const matchOurs = (streamPrefix: string): string => {
  const kinds = [accountStream('' as AccountId), loginStream(''), `${CATALOG_STREAM}$`]
  return `^${streamPrefix.replaceAll('.', '\\.')}(${kinds.join('|')})`
}
