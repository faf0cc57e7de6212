import shared from '@eventstore/db-client/generated/shared_pb.js'
import messages, {
  type BatchAppendResp,
  type ReadReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import empties from 'google-protobuf/google/protobuf/empty_pb.js'
import type { Position } from '../../../../schemas/recorded.ts'
import { BEFORE_FIRST, type NewEvent, NO_STREAM } from '../../../ports/event-log.ts'
import type { Flow } from './pages.ts'

/** An event in the server's form. */
export interface ServerEvent {
  id: string
  stream: string
  revision: number
  position: Position
  type: string
  data: Uint8Array
  metadata: Uint8Array
}

/** The events of one stream, or of all streams with matching names. */
export type Selection =
  | { stream: string; fromRevision: number; limit?: number }
  | { matching: string; after: Position; live: boolean }
  | { matching: string; last: true }

/** Moves the start of a selection past an event. Returns false, and does nothing, for an event before the start. */
export const advance = (rest: Selection, { revision, position }: ServerEvent): boolean => {
  if ('stream' in rest) {
    if (revision < rest.fromRevision) return false
    rest.fromRevision = revision + 1
  } else if ('after' in rest) {
    if (position <= rest.after) return false
    rest.after = position
  }
  return true
}

/** Receives the events of a read, in order. */
export interface Reader {
  begins(flow: Flow): void
  event(event: ServerEvent): void
  /** The server has started a live read. */
  confirmed(): void
  /** The read has no further events up to this position. */
  checkpoint(position: Position): void
}

type AllOptions = InstanceType<typeof messages.ReadReq.Options.AllOptions>
type RecordedEvent = InstanceType<typeof messages.ReadResp.ReadEvent.RecordedEvent>

const { BACKWARDS } = messages.ReadReq.Options.ReadDirection
const ALL = String(Number.MAX_SAFE_INTEGER)

/** The server sends a checkpoint after scanning this many events. */
const SEARCH_WINDOW = 500

/** An append without its correlation ID, and the size of its events. */
export const toAppendMessage = (stream: string, events: NewEvent[], expectedRevision: number) => {
  const options = new messages.BatchAppendReq.Options().setStreamIdentifier(toIdentifier(stream))
  if (expectedRevision === NO_STREAM) options.setNoStream(new empties.Empty())
  else options.setStreamPosition(String(expectedRevision))
  let bytes = 0
  const proposals = events.map(({ id, type, data, metadata }) => {
    const proposal = new messages.BatchAppendReq.ProposedMessage().setId(new shared.UUID().setString(id))
    const [dataBytes, metadataBytes] = [toBytes(data), toBytes(metadata)]
    bytes += dataBytes.length + metadataBytes.length
    proposal.getMetadataMap().set('type', type).set('content-type', 'application/json')
    return proposal.setData(dataBytes).setCustomMetadata(metadataBytes)
  })
  const message = new messages.BatchAppendReq().setOptions(options).setProposedMessagesList(proposals).setIsFinal(true)
  return { message, bytes }
}

/** The ID has 128 bits, of which the lower 64 are used. */
export const toCorrelationId = (number: number) =>
  new shared.UUID().setStructured(
    new shared.UUID.Structured().setMostSignificantBits('0').setLeastSignificantBits(String(number)),
  )

export const toAppendNumber = (answer: BatchAppendResp): number =>
  Number(answer.getCorrelationId()?.getStructured()?.getLeastSignificantBits())

export const toReadRequest = (selection: Selection): ReadReq => {
  const options = new messages.ReadReq.Options()
  options.setUuidOption(new messages.ReadReq.Options.UUIDOption().setString(new shared.Empty()))
  if ('stream' in selection) {
    const stream = new messages.ReadReq.Options.StreamOptions().setStreamIdentifier(toIdentifier(selection.stream))
    options.setStream(stream.setRevision(String(selection.fromRevision))).setNoFilter(new shared.Empty())
    const count = selection.limit === undefined ? ALL : String(selection.limit)
    return new messages.ReadReq().setOptions(options.setCount(count))
  }
  const all = new messages.ReadReq.Options.AllOptions()
  if ('last' in selection) options.setReadDirection(BACKWARDS).setAll(all.setEnd(new shared.Empty())).setCount('1')
  else {
    options.setAll(toStart(all, selection.after))
    if (selection.live) options.setSubscription(new messages.ReadReq.Options.SubscriptionOptions())
    else options.setCount(ALL)
  }
  const filter = new messages.ReadReq.Options.FilterOptions().setMax(SEARCH_WINDOW).setCheckpointintervalmultiplier(1)
  const expression = new messages.ReadReq.Options.FilterOptions.Expression().setRegex(selection.matching)
  return new messages.ReadReq().setOptions(options.setFilter(filter.setStreamIdentifier(expression)))
}

/** A read includes the event at its start position; a live read does not. */
const toStart = (all: AllOptions, position: Position): AllOptions => {
  if (position === BEFORE_FIRST) return all.setStart(new shared.Empty())
  const commit = toCommit(position)
  const start = new messages.ReadReq.Options.Position().setCommitPosition(commit).setPreparePosition(commit)
  return all.setPosition(start)
}

export const dispatch = (answer: ReadResp, reader: Reader) => {
  const recorded = answer.getEvent()?.getEvent()
  if (recorded) reader.event(toServerEvent(recorded))
  const reached = answer.getCheckpoint()?.getCommitPosition()
  // Without a position, there is nothing to skip.
  if (reached !== undefined && reached !== NO_POSITION) reader.checkpoint(toPosition(reached))
  if (answer.hasConfirmation()) reader.confirmed()
}

const toServerEvent = (recorded: RecordedEvent): ServerEvent => ({
  id: recorded.getId()?.getString() ?? '',
  stream: toText(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? NO_BYTES),
  revision: Number(recorded.getStreamRevision()),
  position: toPosition(recorded.getCommitPosition()),
  type: recorded.getMetadataMap().get('type') ?? '',
  data: recorded.getData_asU8(),
  metadata: recorded.getCustomMetadata_asU8(),
})

const toIdentifier = (stream: string) => new shared.StreamIdentifier().setStreamName(Buffer.from(stream))

/** Decodes without copying. */
export const toText = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString()

const NO_BYTES = new Uint8Array()
const toBytes = (value: unknown) => Buffer.from(JSON.stringify(value ?? null))

/** The server's value for "no position", for example in a checkpoint before the first match. */
export const NO_POSITION = String(2n ** 64n - 1n)

/**
 * A position of this log is twice the server's position, which counts bytes. So there is a valid position just before
 * each event and after all earlier events. The server can only read from the start of an event.
 */
export const toPosition = (commit: string): Position => {
  const position = Number(commit) * 2
  if (!Number.isSafeInteger(position))
    throw new RangeError(`the log position ${commit} of EventStoreDB cannot be used; it must be below 2^52`)
  return position
}

/** The server's position of the first event at or after a position. */
export const toCommit = (position: Position): string => String(Math.ceil(position / 2))
