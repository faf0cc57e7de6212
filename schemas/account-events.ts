import { type Static, Type } from 'typebox'
import { Mode, Receipt, Retry } from './catalog.ts'
import {
  AccountId,
  Closed,
  type EventUnion,
  KeyId,
  MAX_FILENAME_LENGTH,
  MAX_FOLDER_LENGTH,
  MAX_NAME_LENGTH,
  MAX_REASON_LENGTH,
  Micros,
  OneOf,
  PositiveMicros,
  RunId,
  Sha256,
  Slug,
  Timestamp,
  UploadId,
} from './primitives.ts'

export const AccountOpened = Closed({ accountId: AccountId, email: Type.String(), tester: Type.Boolean() })
export const CreditsGranted = Closed({
  amountMicros: PositiveMicros,
  balanceAfterMicros: Micros,
  reason: Type.String({ minLength: 1, maxLength: MAX_REASON_LENGTH }),
})

export const ApiKeyCreated = Closed({
  keyId: KeyId,
  name: Type.String({ minLength: 1, maxLength: MAX_NAME_LENGTH }),
  hash: Sha256,
  lastFour: Type.String({ minLength: 4, maxLength: 4 }),
})
export const ApiKeyRevoked = Closed({ keyId: KeyId, hash: Sha256 })

export const CreditsDebited = Closed({
  runId: RunId,
  amountMicros: PositiveMicros,
  balanceAfterMicros: Micros,
  receipt: Receipt,
})
export const CreditsRefunded = Closed({ runId: RunId, amountMicros: PositiveMicros, balanceAfterMicros: Micros })

/** The client's own key for a request, and the digest that tells a repetition from another request. */
export const Idempotency = Closed({ key: Type.String({ pattern: '^[\\x21-\\x7e]{1,255}$' }), requestHash: Sha256 })
export type Idempotency = Static<typeof Idempotency>

/** `input` is what the run is given: the client's, with the defaults that were applied before pricing. */
export const RunQueued = Closed({
  runId: RunId,
  model: Slug,
  endpoint: Slug,
  mode: Mode,
  provider: Slug,
  timeoutMs: Type.Integer({ minimum: 1 }),
  retry: Type.Optional(Retry),
  input: Type.Record(Type.String(), Type.Unknown()),
  metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  webhookUrl: Type.Optional(Type.String()),
  idempotency: Type.Optional(Idempotency),
})
export type RunQueued = Static<typeof RunQueued>

export const RunStarted = Closed({ runId: RunId })
export const RunSubmitted = Closed({ runId: RunId, jobId: Type.String({ minLength: 1, maxLength: 255 }) })

/** The client no longer wants a run that is being worked on. It goes on where the provider cannot be stopped. */
export const RunCancelRequested = Closed({ runId: RunId })

const ObjectKey = Type.String({ minLength: 1, maxLength: 255 })
const MimeType = Type.String({ minLength: 1, maxLength: 100 })
const SizeBytes = Type.Integer({ minimum: 0 })

/** A result in the object store. Addresses are built from the key when they are shown, so that the log outlives a move. */
export const Artifact = Closed({ objectKey: ObjectKey, mimeType: MimeType, sizeBytes: SizeBytes, sha256: Sha256 })
export type Artifact = Static<typeof Artifact>

/** `willDeleteAt` is when the artifacts are taken away, where there are any. */
export const RunOutput = Closed({
  artifacts: Type.Array(Artifact),
  text: Type.Optional(Type.String()),
  willDeleteAt: Type.Optional(Timestamp),
})
export type RunOutput = Static<typeof RunOutput>

/** Why a run failed. The list is closed and part of the API. */
export const runErrorCodes = [
  'model_not_found',
  'content_rejected',
  'provider_error',
  'provider_timeout',
  'interrupted',
  'invalid_input',
  'cancelled',
] as const
export const RunErrorCode = OneOf(...runErrorCodes)
export type RunErrorCode = Static<typeof RunErrorCode>
export const RunError = Closed({ code: RunErrorCode, message: Type.String({ minLength: 1, maxLength: 1000 }) })
export type RunError = Static<typeof RunError>

export const RunCompleted = Closed({ runId: RunId, output: RunOutput })
export const RunFailed = Closed({ runId: RunId, error: RunError })
/** The artifacts are gone from the object store. */
export const RunOutputDeleted = Closed({ runId: RunId })

// Each attempt to tell a client's receiver of a run's end is an event. Attempts count from 1.
const Attempt = Type.Integer({ minimum: 1 })
const HttpStatus = Type.Integer({ minimum: 100, maximum: 999 })

export const WebhookDelivered = Closed({ runId: RunId, attempt: Attempt, status: HttpStatus })
/** `status` is missing where there was no answer, and `nextAttemptAt` where there is no next attempt. */
export const WebhookAttemptFailed = Closed({
  runId: RunId,
  attempt: Attempt,
  status: Type.Optional(HttpStatus),
  reason: Type.String({ minLength: 1, maxLength: 300 }),
  nextAttemptAt: Type.Optional(Timestamp),
})
export type WebhookAttemptFailed = Static<typeof WebhookAttemptFailed>
/** Nobody is told any more, unless the operator asks for it. */
export const WebhookAbandoned = Closed({ runId: RunId, attempts: Attempt })
export const WebhookRedeliveryRequested = Closed({ runId: RunId, url: Type.String() })

/**
 * A file may come under this key: through the service (`inline`), or straight to the object store (`presigned`). It is on the
 * log before there is a file, so that no file can be without an owner.
 */
export const UploadGranted = Closed({
  uploadId: UploadId,
  method: OneOf('inline', 'presigned'),
  objectKey: ObjectKey,
  filename: Type.String({ minLength: 1, maxLength: MAX_FILENAME_LENGTH }),
  folderPath: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_FOLDER_LENGTH })),
  mimeType: MimeType,
  maxSizeBytes: SizeBytes,
  /** Afterwards nobody can begin to send it. */
  expiresAt: Timestamp,
  willDeleteAt: Timestamp,
})
export type UploadGranted = Static<typeof UploadGranted>

/**
 * The file is there and is what it was said to be. Until it is `sealed` the client may send another in its place, which is
 * looked at anew when the grant has ended.
 */
export const UploadStored = Closed({
  uploadId: UploadId,
  sizeBytes: SizeBytes,
  sha256: Sha256,
  sealed: Type.Boolean(),
})
export type UploadStored = Static<typeof UploadStored>

/** Its owner wants it gone. */
export const UploadDeletionRequested = Closed({ uploadId: UploadId })

/** It is gone from the object store: as its owner wanted, since its time was over, or since it never was a good file. */
export const UploadDeleted = Closed({
  uploadId: UploadId,
  reason: OneOf('requested', 'expired', 'never_sent', 'too_large', 'unsupported_type'),
})
export type UploadDeleted = Static<typeof UploadDeleted>

/** Everything that can happen to an account, by event type. */
export const accountEvents = {
  AccountOpened,
  CreditsGranted,
  CreditsDebited,
  CreditsRefunded,
  ApiKeyCreated,
  ApiKeyRevoked,
  RunQueued,
  RunStarted,
  RunSubmitted,
  RunCancelRequested,
  RunCompleted,
  RunFailed,
  RunOutputDeleted,
  WebhookDelivered,
  WebhookAttemptFailed,
  WebhookAbandoned,
  WebhookRedeliveryRequested,
  UploadGranted,
  UploadStored,
  UploadDeletionRequested,
  UploadDeleted,
}
export type AccountEvent = EventUnion<typeof accountEvents>
