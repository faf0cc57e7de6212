import { type Static, Type } from 'typebox'
import { Closed, IDEMPOTENCY_HOURS } from '../primitives.ts'
import { about } from './about.ts'

/** Every error code that an HTTP answer can carry, with its status. The list is closed and part of the API. */
export const errorStatus = {
  invalid_request: 400,
  invalid_input: 400,
  invalid_multipart: 400,
  unsupported_media_type: 400,
  invalid_api_key: 401,
  insufficient_credits: 402,
  not_found: 404,
  model_not_found: 404,
  run_not_found: 404,
  upload_not_found: 404,
  method_not_allowed: 405,
  run_ended: 409,
  payload_too_large: 413,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const
export const ErrorCode = Type.Unsafe<keyof typeof errorStatus>({
  type: 'string',
  enum: Object.keys(errorStatus),
  description: 'What to tell errors apart by. No other codes will come.',
})
export type ErrorCode = Static<typeof ErrorCode>

/** What a client that gets a code should make of it. */
export const errorMeanings: Record<ErrorCode, string> = {
  invalid_request: 'The request cannot be read, or is not as it is described here; `errors` names the places.',
  invalid_input: 'The `input` does not fit the `parameters_schema` of the endpoint; `errors` names the places.',
  invalid_multipart: 'The body is no form that can be read.',
  unsupported_media_type: 'The body, or the file, is of a type that is not taken.',
  invalid_api_key: 'The key is missing, unknown or revoked.',
  insufficient_credits: 'The run costs more than is left; nothing was charged.',
  not_found: 'There is nothing at this address.',
  model_not_found: 'There is no such model.',
  run_not_found: 'The account has no such run.',
  upload_not_found: 'The account has no such upload, or its file has not come, or it is deleted.',
  method_not_allowed: 'The address knows other methods, which the header `Allow` names.',
  run_ended: 'The run has ended already.',
  payload_too_large: 'The body, or the file, is larger than is taken.',
  idempotency_mismatch: `The \`Idempotency-Key\` was used for another request in the last ${IDEMPOTENCY_HOURS} hours.`,
  rate_limited: 'The account has reached a limit; ask again after `Retry-After` seconds.',
  internal_error: 'Something broke on our side.',
  unavailable: 'The service cannot do this right now; ask again after `Retry-After` seconds.',
}

/** One fault in a request. */
export const Fault = Closed({
  path: about(
    Type.String(),
    'Where it is: a JSON Pointer into the body, the form or the query, or `/headers/` and a name.',
    '/input/resolution',
  ),
  message: about(Type.String(), 'What is wrong there.', 'must be one of 1K, 2K, 4K'),
})
export type Fault = Static<typeof Fault>

export const ErrorBody = Closed({
  error: Closed({
    code: ErrorCode,
    message: about(Type.String(), 'The same in words, for people.'),
    request_id: about(Type.String(), 'What to name when you ask us about it.', 'a969a179-30ad-4dcb-8baa-b78e9b9a7159'),
    errors: Type.Optional(about(Type.Array(Fault), 'The faults in the request, where they have a place; 50 at most.')),
    required_credits: Type.Optional(about(Type.Number(), 'What the run costs, with `insufficient_credits`.', 10)),
    credits_balance: Type.Optional(about(Type.Number(), 'What is left, with `insufficient_credits`.', 2.5)),
  }),
})
export type ErrorBody = Static<typeof ErrorBody>
