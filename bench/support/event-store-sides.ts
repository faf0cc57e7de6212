import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent, type ReadPosition, START } from '@eventstore/db-client'
import { openEventStoreLog } from '../../src/adapters/event-log/eventstoredb.ts'
import { BEFORE_FIRST, type NewEvent, NO_STREAM } from '../../src/ports/event-log.ts'
import { eventStoreAt } from '../../test/support/store-addresses.ts'
import { fillLog } from './fill.ts'
import { debited } from './samples.ts'

/** The operations of both sides. */
export interface Side {
  /** Resolves to the revision of the event. */
  append(stream: string, event: NewEvent, expectedRevision: number): Promise<number>
  /** Appends an event. `replay` starts after it. */
  mark(): Promise<void>
  /** Reads to the end, and resolves to the number of events. */
  replay(): Promise<number>
  close(): Promise<void>
}

/** The service's event log. */
export const openTollgate = (url: string): Side => {
  const log = openEventStoreLog({ address: eventStoreAt(url) })
  let after = BEFORE_FIRST
  return {
    append: async (stream, event, expectedRevision) => (await log.append(stream, [event], expectedRevision)).revision,
    mark: async () => {
      after = (await log.append(markStream(), [markEvent()], NO_STREAM)).position
    },
    replay: async () => {
      let events = 0
      for await (const page of log.readAll(after)) for (const _ of page) events += 1
      return events
    },
    close: () => log.close(),
  }
}

/** The vendor's client, used as documented. */
export const openVendor = (url: string): Side => {
  const { connectionString, streamPrefix } = withoutPrefix(url)
  const client = EventStoreDBClient.connectionString(connectionString)
  let fromPosition: ReadPosition = START
  const append = (stream: string, event: NewEvent, expectedRevision: number) =>
    client.appendToStream(
      streamPrefix + stream,
      jsonEvent(event as NewEvent & { data: Record<string, unknown>; metadata: Record<string, unknown> }),
      { expectedRevision: expectedRevision === NO_STREAM ? 'no_stream' : BigInt(expectedRevision) },
    )
  return {
    append: async (stream, event, expectedRevision) =>
      Number((await append(stream, event, expectedRevision)).nextExpectedRevision),
    mark: async () => {
      const { position } = await append(markStream(), markEvent(), NO_STREAM)
      if (!position) throw new Error('EventStoreDB did not return the position of an event')
      fromPosition = position
    },
    replay: async () => {
      let events = 0
      for await (const _ of client.readAll({ fromPosition })) events += 1
      return events
    },
    close: () => client.dispose(),
  }
}

/** Fills the server with finished runs, as the service would write them. */
export const fillEventStore = async (url: string, size: { runs: number; accounts: number }): Promise<void> => {
  const log = openEventStoreLog({ address: eventStoreAt(url) })
  await fillLog(log, size)
  await log.close()
}

/**
 * The vendor's client has no streamPrefix. An address with several hosts is not a valid URL, so it is split by hand.
 */
const withoutPrefix = (url: string) => {
  const [place, query] = url.split('?')
  const parameters = new URLSearchParams(query)
  const streamPrefix = parameters.get('streamPrefix') ?? ''
  parameters.delete('streamPrefix')
  return { connectionString: `${place}?${parameters}`, streamPrefix }
}

const markStream = () => `account-${randomUUID()}`
const markEvent = (): NewEvent => ({ id: randomUUID(), ...debited() })
