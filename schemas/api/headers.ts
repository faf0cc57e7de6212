import { Type } from 'typebox'
import {
  IDEMPOTENCY_HOURS,
  IDEMPOTENCY_KEY,
  MAX_WAIT_SECONDS,
  MIN_WAIT_SECONDS,
  POSITION,
  REQUEST_ID,
} from '../primitives.ts'
import { about } from './about.ts'

// Headers as clients send them, and as they are answered.

export const IdempotencyKey = about(
  Type.String({ pattern: `^("${IDEMPOTENCY_KEY}"|${IDEMPOTENCY_KEY})$` }),
  `The same key with the same request begins no second run, for ${IDEMPOTENCY_HOURS} hours: the answer is the first run again. Give each run that you want a key of its own, and repeat a request whose answer was lost with the same key.`,
  '4b1e8a52-6c0f-4d4e-9a0c-2f7d0c1b9e11',
)

export const Prefer = about(
  Type.String(),
  `wait=n holds the answer until the run has ended, for n seconds (${MIN_WAIT_SECONDS} to ${MAX_WAIT_SECONDS}) at the most (RFC 7240).`,
  'wait=30',
)

export const LastEventId = about(Type.String(), 'The id of the last event that was seen; only newer ones come.', '7')

export const Range = about(Type.String(), 'The part of the file that is wanted (RFC 9110).', 'bytes=0-1023')

export const IfRange = about(
  Type.String(),
  'Gives the part only where the file is still this one, else the whole.',
  '"1a2b3c"',
)

export const IfNoneMatch = about(Type.String(), 'The `ETag` of what the client has.', '"1a2b3c"')

export const TollgatePosition = about(
  Type.String({ pattern: `^${POSITION}$` }),
  'How far the log was when a write was answered. A request that sends it back is answered by any process as if it came after that write.',
  '1024',
)

export const RequestId = about(
  Type.String({ pattern: `^${REQUEST_ID}$` }),
  'Names the request in logs and in errors. Taken from the request, or made up.',
  'a969a179-30ad-4dcb-8baa-b78e9b9a7159',
)

export const RetryAfter = about(Type.String({ pattern: '^\\d+$' }), 'Seconds after which to ask again.', '10')

export const IdempotentReplayed = Type.Optional(
  about(Type.Literal('true'), 'The answer is that of an earlier, equal request.'),
)

export const PreferenceApplied = Type.Optional(
  about(Type.String({ pattern: '^wait=\\d+$' }), 'How long the answer was allowed to wait.', 'wait=30'),
)

export const Location = about(
  Type.String(),
  'Where the run is to be looked at.',
  '/v1/runs/run_01m7z4hp40enbs019v3tcadvdx',
)

export const ETag = about(
  Type.String({ pattern: '^(W/)?"[!#-~]*"$' }),
  'Names what was answered; send it back as If-None-Match.',
  '"1a2b3c"',
)

export const ContentRange = about(
  Type.String({ pattern: '^bytes (\\d+-\\d+|\\*)/\\d+$' }),
  'Which part of the file it is.',
  'bytes 0-1023/154765',
)

export const AcceptRanges = about(Type.Literal('bytes'), 'Parts of it can be asked for.')

export const CacheControl = about(Type.String(), 'How long the answer may be kept, and by whom.', 'no-store')

export const WwwAuthenticate = about(Type.Literal('Bearer'), 'The key goes into `Authorization: Bearer …`.')
