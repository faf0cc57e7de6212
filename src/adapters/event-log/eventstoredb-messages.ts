import shared from '@eventstore/db-client/generated/shared_pb.js'
import messages, { type AppendReq, type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { Position } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type NewEvent, NO_STREAM } from '../../ports/event-log.ts'
import type { Flow } from './eventstoredb-pages.ts'
import { toCommit, toPosition } from './eventstoredb-positions.ts'

/** An event as the server hands it out, with the bytes that it takes. */
export interface ServerEvent {
  id: string
  stream: string
  revision: number
  position: Position
  type: string
  data: Uint8Array
  metadata: Uint8Array
}

/** Which events to read: those of a stream, or those of all streams whose names match. */
export type Selection =
  | { stream: string; fromRevision: number }
  | { matching: string; from: Position }
  | { matching: string; after: Position; live: true }
  | { matching: string; last: true }

/** Told of what a read brings, in order. */
export interface Reader {
  begins(flow: Flow): void
  event(event: ServerEvent): void
  /** The server has taken up a live read. */
  confirmed(): void
  /** All that is to be read up to here has come. */
  checkpoint(position: Position): void
}

type AllOptions = InstanceType<typeof messages.ReadReq.Options.AllOptions>
type RecordedEvent = InstanceType<typeof messages.ReadResp.ReadEvent.RecordedEvent>

const { BACKWARDS } = messages.ReadReq.Options.ReadDirection
const ALL = String(Number.MAX_SAFE_INTEGER)

/** Between checkpoints of a read that finds nothing, this many events were looked at. */
const SEARCH_WINDOW = 500

export const toHeader = (stream: string, expectedRevision: number): AppendReq => {
  const options = new messages.AppendReq.Options()
  options.setStreamIdentifier(toIdentifier(stream))
  if (expectedRevision === NO_STREAM) options.setNoStream(new shared.Empty())
  else options.setRevision(String(expectedRevision))
  return new messages.AppendReq().setOptions(options)
}

export const toProposal = ({ id, type, data, metadata }: NewEvent): AppendReq => {
  const proposal = new messages.AppendReq.ProposedMessage()
  proposal.setId(new shared.UUID().setString(id))
  proposal.getMetadataMap().set('type', type).set('content-type', 'application/json')
  proposal.setData(toBytes(data)).setCustomMetadata(toBytes(metadata))
  return new messages.AppendReq().setProposedMessage(proposal)
}

export const toReadRequest = (selection: Selection): ReadReq => {
  const options = new messages.ReadReq.Options()
  options.setUuidOption(new messages.ReadReq.Options.UUIDOption().setString(new shared.Empty()))
  if ('stream' in selection) {
    const stream = new messages.ReadReq.Options.StreamOptions().setStreamIdentifier(toIdentifier(selection.stream))
    options.setStream(stream.setRevision(String(selection.fromRevision))).setNoFilter(new shared.Empty())
    return new messages.ReadReq().setOptions(options.setCount(ALL))
  }
  const all = new messages.ReadReq.Options.AllOptions()
  if ('last' in selection) options.setReadDirection(BACKWARDS).setAll(all.setEnd(new shared.Empty())).setCount('1')
  else if ('live' in selection)
    options.setAll(toStart(all, selection.after)).setSubscription(new messages.ReadReq.Options.SubscriptionOptions())
  else options.setAll(toStart(all, selection.from)).setCount(ALL)
  const filter = new messages.ReadReq.Options.FilterOptions().setMax(SEARCH_WINDOW).setCheckpointintervalmultiplier(1)
  const expression = new messages.ReadReq.Options.FilterOptions.Expression().setRegex(selection.matching)
  return new messages.ReadReq().setOptions(options.setFilter(filter.setStreamIdentifier(expression)))
}

/** Reads begin with the event at a position, and live reads after it. */
const toStart = (all: AllOptions, position: Position): AllOptions => {
  if (position === BEFORE_FIRST) return all.setStart(new shared.Empty())
  const commit = toCommit(position)
  const start = new messages.ReadReq.Options.Position().setCommitPosition(commit).setPreparePosition(commit)
  return all.setPosition(start)
}

export const handOver = (answer: ReadResp, reader: Reader) => {
  const recorded = answer.getEvent()?.getEvent()
  if (recorded) reader.event(toServerEvent(recorded))
  const checkpoint = answer.getCheckpoint()
  if (checkpoint) reader.checkpoint(toPosition(checkpoint.getCommitPosition()))
  if (answer.hasConfirmation()) reader.confirmed()
}

const toServerEvent = (recorded: RecordedEvent): ServerEvent => ({
  id: recorded.getId()?.getString() ?? '',
  stream: Buffer.from(recorded.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString(),
  revision: Number(recorded.getStreamRevision()),
  position: toPosition(recorded.getCommitPosition()),
  type: recorded.getMetadataMap().get('type') ?? '',
  data: recorded.getData_asU8(),
  metadata: recorded.getCustomMetadata_asU8(),
})

const toIdentifier = (stream: string) => new shared.StreamIdentifier().setStreamName(Buffer.from(stream))
const toBytes = (value: unknown) => Buffer.from(JSON.stringify(value ?? null))
