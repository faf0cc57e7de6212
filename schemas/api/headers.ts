import { Type } from 'typebox'
import { IDEMPOTENCY_HOURS, IDEMPOTENCY_KEY, MAX_WAIT_SECONDS, POSITION, REQUEST_ID, RunId } from '../primitives.ts'
import { about } from './about.ts'
import { SealName } from './seal.ts'

// The headers of requests and responses.

export const IdempotencyKey = about(
  Type.String({ pattern: `^("${IDEMPOTENCY_KEY}"|${IDEMPOTENCY_KEY})$` }),
  [
    'Use a new key for each run, and repeat a request whose response was lost with the same key.',
    `For ${IDEMPOTENCY_HOURS} hours, repeating a request with its key returns the first run and starts no other.`,
  ].join(' '),
  '4b1e8a52-6c0f-4d4e-9a0c-2f7d0c1b9e11',
)

export const Prefer = about(
  Type.String(),
  [
    '`wait=n` (RFC 7240) holds the response until the run ends,',
    `for at most n seconds, and at most ${MAX_WAIT_SECONDS}.`,
    '`respond-async` and `wait=0` respond at once; `respond-async, wait=n` waits for n seconds first.',
  ].join(' '),
  'wait=30',
)

export const LastEventId = about(
  Type.String(),
  'The ID of the last event received. The stream sends only newer events.',
  '7',
)

export const Range = about(Type.String(), 'The part of the file to return (RFC 9110).', 'bytes=0-1023')

export const IfRange = about(
  Type.String(),
  'Returns the range only if the file still has this `ETag`; otherwise returns the whole file.',
  '"1a2b3c"',
)

export const IfNoneMatch = about(Type.String(), 'The `ETag` of the version that the client holds.', '"1a2b3c"')

export const TollgatePosition = about(
  Type.String({ pattern: `^${POSITION}$` }),
  [
    'The position of the log when the service responded to a write.',
    'A request with this header sees the write, no matter which process responds.',
  ].join(' '),
  '1024',
)

export const TollgateSeal = Type.Optional(
  about(
    SealName,
    [
      'The name of the newest seal that the process knows. Absent before the first seal.',
      'Keep the name: if sealed events are rewritten, the log can no longer show this seal.',
    ].join(' '),
  ),
)

export const RateLimitPolicy = Type.Optional(
  about(
    Type.String({ pattern: '^"(key|account)";q=[0-9]+;w=[0-9]+(, "account";q=[0-9]+;w=[0-9]+)?$' }),
    'How many requests (`q`) the key and the account may send in a window of `w` seconds. Absent without a limit.',
    '"key";q=6000;w=60, "account";q=12000;w=60',
  ),
)

export const RateLimit = Type.Optional(
  about(
    Type.String({ pattern: '^"(key|account)";r=[0-9]+;t=[0-9]+(, "account";r=[0-9]+;t=[0-9]+)?$' }),
    'How many requests are left (`r`) for the next `t` seconds. Absent without a limit.',
    '"key";r=5988;t=42, "account";r=11973;t=42',
  ),
)

export const RequestId = about(
  Type.String({ pattern: `^${REQUEST_ID}$` }),
  'Identifies the request in logs and errors. The service generates an ID if the request has none.',
  'a969a179-30ad-4dcb-8baa-b78e9b9a7159',
)

export const RetryAfter = about(
  Type.String({ pattern: '^[0-9]+$' }),
  'The number of seconds to wait before you retry.',
  '10',
)

export const IdempotentReplayed = Type.Optional(
  about(Type.Literal('true'), 'The response shows the run of an earlier identical request.'),
)

export const PreferenceApplied = Type.Optional(
  about(
    Type.String({ pattern: '^(respond-async|(respond-async, )?wait=[0-9]+)$' }),
    'The preferences that the service applied.',
    'wait=30',
  ),
)

export const TollgateRun = about(RunId, 'The run that made the response.', 'run_01m7z4hp40enbs019v3tcadvdx')

export const Location = about(
  Type.String({ format: 'uri-reference' }),
  'The URL of the run.',
  '/v1/runs/run_01m7z4hp40enbs019v3tcadvdx',
)

export const ETag = about(
  Type.String({ pattern: '^(W/)?"[!#-~]*"$' }),
  'Identifies the version of the content. Send it back as `If-None-Match`.',
  '"1a2b3c"',
)

export const Deprecation = Type.Optional(
  about(
    Type.String({ pattern: '^@[0-9]+$' }),
    'When the retirement of the whole model became known, in seconds since 1970 (RFC 9745).',
    '@1795478400',
  ),
)

export const Sunset = Type.Optional(
  about(Type.String(), 'When the whole model retires (RFC 8594).', 'Wed, 06 Jan 2027 00:00:00 GMT'),
)

export const ContentRange = about(
  Type.String({ pattern: '^bytes ([0-9]+-[0-9]+|\\*)/[0-9]+$' }),
  'The part of the file that the response holds.',
  'bytes 0-1023/154765',
)

export const AcceptRanges = about(Type.Literal('bytes'), 'The file supports range requests.')

export const ContentDisposition = about(
  Type.Literal('attachment'),
  'Browsers save the file instead of showing it: it is not inspected yet.',
)

export const CacheControl = about(Type.String(), 'How long the response may be cached, and by whom.', 'no-store')

export const WwwAuthenticate = about(Type.Literal('Bearer'), 'Send the API key as `Authorization: Bearer <key>`.')
