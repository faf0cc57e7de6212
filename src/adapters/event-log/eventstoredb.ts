import type { AccountId } from '../../../schemas/primitives.ts'
import { accountStream, CATALOG_STREAM, loginStream, type Position, type RawEvent } from '../../../schemas/recorded.ts'
import { type Appended, BEFORE_FIRST, type EventLog, type NewEvent } from '../../ports/event-log.ts'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { Connection, type EventStoreAddress } from './eventstoredb-connection.ts'
import type { Selection, ServerEvent } from './eventstoredb-messages.ts'
import { inPages } from './eventstoredb-pages.ts'

/** A page ends at so many events or bytes, so that neither small nor large events make it slow or heavy. */
const PAGE_EVENTS = 1000
const PAGE_BYTES = 4 * 1024 * 1024

/** Appends that may be under way; past this the server is not keeping up. */
const MAX_WAITING = 50_000

/**
 * Some broken connections neither answer nor fail. The server itself gives an append up after about two seconds, and is
 * given the time to say so.
 */
const APPEND_TIMEOUT_MS = 5000

/** A read that finds little has much to look through, and nobody is left in doubt when it is given up. */
const READ_TIMEOUT_MS = 10_000

export interface EventStoreOptions {
  address: EventStoreAddress
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
  appendTimeoutMs = APPEND_TIMEOUT_MS,
  readTimeoutMs = READ_TIMEOUT_MS,
}: EventStoreOptions): EventLog => {
  const { server, streamPrefix } = address
  const connection = new Connection(address)
  const matching = matchOurs(streamPrefix)
  const appends = new Appends()
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
      (sink, stop) =>
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
          stop,
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
    append: (stream, events, expectedRevision) =>
      appends.oneAfterAnother(stream, () => append(stream, events, expectedRevision)),

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
      await appends.settled()
      await connection.close()
    },
  }
}

/** The names of our streams, as a regular expression of the server's. */
const matchOurs = (streamPrefix: string): string => {
  const kinds = [accountStream('' as AccountId), loginStream(''), `${CATALOG_STREAM}$`]
  return `^${streamPrefix.replaceAll('.', '\\.')}(${kinds.join('|')})`
}

/** The server takes requests in any order, so the appends to one stream are made one after another. */
class Appends {
  readonly #waiting = new Set<Promise<Appended>>()
  readonly #lastAppends = new Map<string, Promise<Appended>>()

  oneAfterAnother(key: string, work: () => Promise<Appended>): Promise<Appended> {
    if (this.#waiting.size >= MAX_WAITING)
      return Promise.reject(new Unavailable('too many appends wait for the event log'))
    const before: Promise<unknown> = this.#lastAppends.get(key) ?? Promise.resolve()
    const appended = before.then(work, work)
    this.#lastAppends.set(key, appended)
    this.#waiting.add(appended)
    const forget = () => {
      this.#waiting.delete(appended)
      if (this.#lastAppends.get(key) === appended) this.#lastAppends.delete(key)
    }
    appended.then(forget, forget)
    return appended
  }

  /** Resolves when those that are under way now have ended, one way or the other. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#waiting)
  }
}
