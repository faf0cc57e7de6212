import { type Static, Type } from 'typebox'

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
  idempotency_conflict: 409,
  run_ended: 409,
  payload_too_large: 413,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal_error: 500,
  unavailable: 503,
} as const
export type ErrorCode = keyof typeof errorStatus

/** One fault in a request: a JSON Pointer to the place, and what is wrong there. */
export const Fault = Type.Object({ path: Type.String(), message: Type.String() })
export type Fault = Static<typeof Fault>

export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.Unsafe<ErrorCode>({ type: 'string', enum: Object.keys(errorStatus) }),
    message: Type.String(),
    request_id: Type.String(),
    errors: Type.Optional(Type.Array(Fault)),
    required_credits: Type.Optional(Type.Number()),
    credits_balance: Type.Optional(Type.Number()),
  }),
})
export type ErrorBody = Static<typeof ErrorBody>
