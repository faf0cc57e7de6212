import shared from '@eventstore/db-client/generated/shared_pb.js'
import statuses from '@eventstore/db-client/generated/status_pb.js'
import messages, {
  type AppendReq,
  type AppendResp,
  type BatchAppendReq,
  type BatchAppendResp,
  type ReadReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import any from 'google-protobuf/google/protobuf/any_pb.js'
import empties from 'google-protobuf/google/protobuf/empty_pb.js'
import type { RawEvent } from '../../schemas/recorded.ts'
import { type NewEvent, NO_STREAM } from '../../src/ports/event-log.ts'
import type { Refusal } from './event-store-server-faults.ts'
import { type Expected, toCommit, type Written } from './event-store-server-log.ts'

type Success = Extract<Written, { revision: number }>

/** An append as either of the two methods asks for it. */
export interface Asked {
  stream: string
  expected: Expected
  events: NewEvent[]
  bytes: number
}

export const toAsked = (options: AppendReq.Options | BatchAppendReq.Options, proposals: Proposal[]): Asked => {
  const revision = 'getRevision' in options ? options.getRevision() : options.getStreamPosition()
  return {
    stream: textOf(options.getStreamIdentifier()?.getStreamName_asU8()),
    expected: options.hasNoStream()
      ? NO_STREAM
      : options.hasAny()
        ? 'any'
        : options.hasStreamExists()
          ? 'exists'
          : Number(revision),
    events: proposals.map(toNewEvent),
    bytes: proposals.reduce(
      (sum, event) => sum + event.getData_asU8().length + event.getCustomMetadata_asU8().length,
      0,
    ),
  }
}

type Proposal = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage

const toNewEvent = (proposal: Proposal): NewEvent => ({
  id: proposal.getId()?.getString() ?? '',
  type: proposal.getMetadataMap().get('type') ?? '',
  data: JSON.parse(textOf(proposal.getData_asU8())),
  metadata: JSON.parse(textOf(proposal.getCustomMetadata_asU8()) || 'null'),
})

export const toAppendAnswer = (written: Written, expected: Expected): AppendResp => {
  const answer = new messages.AppendResp()
  if (!('wrongExpected' in written)) {
    const success = new messages.AppendResp.Success().setCurrentRevision(String(written.revision))
    if (written.position === undefined) success.setNoPosition(new shared.Empty())
    else
      success.setPosition(
        new messages.AppendResp.Position()
          .setCommitPosition(String(written.position))
          .setPreparePosition(String(written.position)),
      )
    return answer.setSuccess(success)
  }
  const wrong = new messages.AppendResp.WrongExpectedVersion()
  if (written.current === NO_STREAM) wrong.setCurrentNoStream(new shared.Empty())
  else wrong.setCurrentRevision(String(written.current))
  if (expected === NO_STREAM) wrong.setExpectedNoStream(new shared.Empty())
  else if (expected === 'any') wrong.setExpectedAny(new shared.Empty())
  else if (expected === 'exists') wrong.setExpectedStreamExists(new shared.Empty())
  else wrong.setExpectedRevision(String(expected))
  return answer.setWrongExpectedVersion(wrong)
}

export const toBatchAnswer = (request: BatchAppendReq, stream: string, outcome: BatchOutcome): BatchAppendResp => {
  const answer = new messages.BatchAppendResp()
    .setCorrelationId(request.getCorrelationId())
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(stream)))
  if ('refuse' in outcome) return answer.setError(toStatus(outcome.refuse))
  const { written, expected } = outcome
  if ('wrongExpected' in written) return answer.setError(toWrongExpected(written.current, expected))
  return answer.setSuccess(toBatchSuccess(written))
}

export type BatchOutcome = { refuse: Refusal } | { written: Written; expected: Expected }

const toBatchSuccess = ({ revision, position }: Success) => {
  const success = new messages.BatchAppendResp.Success().setCurrentRevision(String(revision))
  if (position === undefined) return success.setNoPosition(new empties.Empty())
  const at = new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position))
  return success.setPosition(at)
}

const toWrongExpected = (current: number, expected: Expected) => {
  const wrong = new shared.WrongExpectedVersion()
  if (current === NO_STREAM) wrong.setCurrentNoStream(new empties.Empty())
  else wrong.setCurrentStreamRevision(String(current))
  if (expected === NO_STREAM) wrong.setExpectedNoStream(new empties.Empty())
  else if (expected === 'any') wrong.setExpectedAny(new empties.Empty())
  else if (expected === 'exists') wrong.setExpectedStreamExists(new empties.Empty())
  else wrong.setExpectedStreamPosition(String(expected))
  return packed(wrong, 'WrongExpectedVersion', 'Wrong expected version')
}

/** A refusal as a batch append answers with it: as a message within a message. */
const toStatus = ({ details, metadata }: Refusal) => {
  const exception = metadata.get('exception')[0]
  if (exception === 'access-denied') return packed(new shared.AccessDenied(), 'AccessDenied', details)
  if (exception === 'stream-deleted') return packed(new shared.StreamDeleted(), 'StreamDeleted', details)
  if (exception === 'maximum-append-size-exceeded') {
    const bytes = Number(metadata.get('maximum-append-size')[0])
    const exceeded = new shared.MaximumAppendSizeExceeded().setMaxappendsize(bytes)
    return packed(exceeded, 'MaximumAppendSizeExceeded', details)
  }
  if (details.startsWith('Operation timed out')) return packed(new shared.Timeout(), 'Timeout', details)
  return packed(new shared.Unknown(), 'Unknown', details)
}

const packed = (message: { serializeBinary(): Uint8Array }, name: string, text: string) => {
  const details = new any.Any()
  details.pack(message.serializeBinary(), `event_store.client.${name}`)
  return new statuses.Status().setMessage(text).setDetails(details)
}

export const toReadAnswer = (event: RawEvent): ReadResp => {
  const commit = String(toCommit(event.position))
  const recorded = new messages.ReadResp.ReadEvent.RecordedEvent()
    .setId(new shared.UUID().setString(event.id))
    .setStreamIdentifier(new shared.StreamIdentifier().setStreamName(Buffer.from(event.stream)))
    .setStreamRevision(String(event.revision))
    .setCommitPosition(commit)
    .setPreparePosition(commit)
    .setData(Buffer.from(JSON.stringify(event.data)))
    .setCustomMetadata(Buffer.from(JSON.stringify(event.metadata)))
  recorded
    .getMetadataMap()
    .set('type', event.type)
    .set('content-type', 'application/json')
    .set('created', '638000000000000000')
  return new messages.ReadResp().setEvent(
    new messages.ReadResp.ReadEvent().setEvent(recorded).setCommitPosition(commit),
  )
}

export const toConfirmation = (): ReadResp =>
  new messages.ReadResp().setConfirmation(
    new messages.ReadResp.SubscriptionConfirmation().setSubscriptionId(crypto.randomUUID()),
  )

export const toCheckpoint = (position: number): ReadResp => {
  const commit = String(toCommit(position))
  const checkpoint = new messages.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(commit)
  return new messages.ReadResp().setCheckpoint(checkpoint)
}

export const toStreamNotFound = (stream: string): ReadResp =>
  new messages.ReadResp().setStreamNotFound(
    new messages.ReadResp.StreamNotFound().setStreamIdentifier(
      new shared.StreamIdentifier().setStreamName(Buffer.from(stream)),
    ),
  )

/** Which events a read asks for, by their streams or their types. */
export const toFilter = (options: ReadReq.Options): ((event: RawEvent) => boolean) => {
  const filter = options.getFilter()
  const expression = filter?.getStreamIdentifier() ?? filter?.getEventType()
  if (!filter || !expression) return () => true
  const [regex, prefixes] = [expression.getRegex(), expression.getPrefixList()]
  const pattern = regex ? new RegExp(regex) : undefined
  return ({ stream, type }) => {
    const name = filter.hasStreamIdentifier() ? stream : type
    return pattern ? pattern.test(name) : prefixes.some(prefix => name.startsWith(prefix))
  }
}

export const textOf = (bytes: Uint8Array = new Uint8Array()): string => Buffer.from(bytes).toString()
