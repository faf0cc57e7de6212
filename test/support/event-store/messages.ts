import shared from '@eventstore/db-client/generated/shared_pb.js'
import messages, {
  type AppendReq,
  type AppendResp,
  type BatchAppendReq,
  type ReadReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb.js'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, type NewEvent, NO_STREAM } from '../../../src/ports/event-log.ts'
import { badRequest, Refused } from './faults.ts'
import { type Expected, toCommit, type Written } from './log.ts'
import { toStructured, toUuidText } from './uuids.ts'

/** An append from either of the two methods. */
export interface ProposedAppend {
  stream: string
  expected: Expected
  events: NewEvent[]
  bytes: number
}

export const toProposedAppend = (
  options: AppendReq.Options | BatchAppendReq.Options,
  proposals: Proposal[],
): ProposedAppend => {
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
    bytes: sizeOf(proposals),
  }
}

/** As the server counts: the type takes two bytes per character. */
export const sizeOf = (proposals: Proposal[]): number =>
  proposals.reduce((sum, event) => {
    const type = event.getMetadataMap().get('type') ?? ''
    return sum + event.getData_asU8().length + event.getCustomMetadata_asU8().length + 2 * type.length
  }, 0)

export type Proposal = AppendReq.ProposedMessage | BatchAppendReq.ProposedMessage

const toNewEvent = (proposal: Proposal): NewEvent => {
  const type = proposal.getMetadataMap().get('type')
  if (!type) throw new Refused(badRequest("Required Metadata Property 'type' is missing"))
  return {
    id: toUuidText(proposal.getId()),
    type,
    data: JSON.parse(textOf(proposal.getData_asU8())),
    metadata: JSON.parse(textOf(proposal.getCustomMetadata_asU8()) || 'null'),
  }
}

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

export const toReadAnswer = (event: RawEvent, options: ReadReq.Options): ReadResp => {
  const commit = String(toCommit(event.position))
  const isText = options.getUuidOption()?.hasString()
  const recorded = new messages.ReadResp.ReadEvent.RecordedEvent()
    .setId(isText ? new shared.UUID().setString(event.id) : toStructured(event.id))
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

/** 24.10.4 sends this for a checkpoint without a position: -1 as unsigned. */
const NO_POSITION = String(2n ** 64n - 1n)

export const toCheckpoint = (position: Position): ReadResp => {
  const commit = position === BEFORE_FIRST ? NO_POSITION : String(toCommit(position))
  const checkpoint = new messages.ReadResp.Checkpoint().setCommitPosition(commit).setPreparePosition(commit)
  return new messages.ReadResp().setCheckpoint(checkpoint)
}

export const toCaughtUp = (): ReadResp => new messages.ReadResp().setCaughtUp(new messages.ReadResp.CaughtUp())

export const toStreamNotFound = (stream: string): ReadResp =>
  new messages.ReadResp().setStreamNotFound(
    new messages.ReadResp.StreamNotFound().setStreamIdentifier(
      new shared.StreamIdentifier().setStreamName(Buffer.from(stream)),
    ),
  )

/** The filter of a read, by stream or by type. */
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
