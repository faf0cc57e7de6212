import codes from '@eventstore/db-client/generated/code_pb.js'
import shared, { type UUID } from '@eventstore/db-client/generated/shared_pb.js'
import statuses, { type Status } from '@eventstore/db-client/generated/status_pb.js'
import messages, { type BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js'
import any from 'google-protobuf/google/protobuf/any_pb.js'
import empties from 'google-protobuf/google/protobuf/empty_pb.js'
import { NO_STREAM } from '../../../src/ports/event-log.ts'
import type { BatchRefusal } from './faults.ts'
import type { Expected, Written } from './log.ts'

export type BatchOutcome = { refuse: BatchRefusal } | { written: Written; expected: Expected }

/** The response to one append of a batch call. It returns the request's id in the form in which it was sent. */
export const toBatchAnswer = (id: UUID | undefined, stream: string | undefined, outcome: BatchOutcome) => {
  const answer = new messages.BatchAppendResp().setCorrelationId(id)
  if (stream !== undefined) answer.setStreamIdentifier(toIdentifier(stream))
  if ('refuse' in outcome) return answer.setError(toStatus(outcome.refuse, stream ?? ''))
  const { written, expected } = outcome
  if ('wrongExpected' in written) return answer.setError(toWrongExpected(written.current, expected))
  return answer.setSuccess(toSuccess(written))
}

const toSuccess = ({ revision, position }: Extract<Written, { revision: number }>): BatchAppendResp.Success => {
  const success = new messages.BatchAppendResp.Success().setCurrentRevision(String(revision))
  if (position === undefined) return success.setNoPosition(new empties.Empty())
  const at = new shared.AllStreamPosition().setCommitPosition(String(position)).setPreparePosition(String(position))
  return success.setPosition(at)
}

const toWrongExpected = (current: number, expected: Expected): Status => {
  const wrong = new shared.WrongExpectedVersion()
  if (current === NO_STREAM) wrong.setCurrentNoStream(new empties.Empty())
  else wrong.setCurrentStreamRevision(String(current))
  if (expected === NO_STREAM) wrong.setExpectedNoStream(new empties.Empty())
  else if (expected === 'any') wrong.setExpectedAny(new empties.Empty())
  else if (expected === 'exists') wrong.setExpectedStreamExists(new empties.Empty())
  else wrong.setExpectedStreamPosition(String(expected))
  return packed(codes.Code.ALREADY_EXISTS, 'WrongExpectedVersion', wrong)
}

const { Code } = codes

const toStatus = (refusal: BatchRefusal, stream: string): Status => {
  if (!('details' in refusal)) {
    // The server sends these without a code.
    const details = new any.Any()
    details.pack(new empties.Empty().serializeBinary(), 'google.protobuf.Empty')
    return new statuses.Status().setMessage(refusal.text).setDetails(details)
  }
  const { details: name } = refusal
  switch (name) {
    case 'AccessDenied':
      return packed(Code.PERMISSION_DENIED, name, new shared.AccessDenied())
    case 'StreamDeleted':
      return packed(Code.NOT_FOUND, name, new shared.StreamDeleted().setStreamIdentifier(toIdentifier(stream)))
    case 'Timeout':
      return packed(Code.DEADLINE_EXCEEDED, name, new shared.Timeout())
    case 'Unknown':
      return packed(Code.UNKNOWN, name, new shared.Unknown())
    case 'MaximumAppendSizeExceeded':
      return packed(Code.INVALID_ARGUMENT, name, new shared.MaximumAppendSizeExceeded().setMaxappendsize(refusal.bytes))
    case 'BadRequest':
      return packed(Code.INVALID_ARGUMENT, name, new shared.BadRequest().setMessage(refusal.text))
  }
}

/** The server's text is the name of the type. */
const packed = (code: codes.Code, name: string, message: { serializeBinary(): Uint8Array }): Status => {
  const details = new any.Any()
  details.pack(message.serializeBinary(), `event_store.client.${name}`)
  return new statuses.Status().setCode(code).setMessage(name).setDetails(details)
}

const toIdentifier = (stream: string) => new shared.StreamIdentifier().setStreamName(Buffer.from(stream))
