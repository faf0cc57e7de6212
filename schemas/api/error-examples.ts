import { IDEMPOTENCY_HOURS } from '../primitives.ts'
import { type ErrorBody, type ErrorCode, errorStatus } from './error.ts'

const REQUEST_ID = 'a969a179-30ad-4dcb-8baa-b78e9b9a7159'

/** What each refusal tells, beside its code. */
const refusals: Record<ErrorCode, Omit<ErrorBody['error'], 'code' | 'request_id'>> = {
  invalid_request: {
    message: 'The body is not as it should be: /model is required.',
    errors: [{ path: '/model', message: 'is required' }],
  },
  invalid_input: {
    message: 'The input does not fit the parameters_schema of nano-banana-2-t2i.',
    errors: [{ path: '/input/resolution', message: 'must be one of 1K, 2K, 4K' }],
  },
  invalid_multipart: { message: 'The Content-Type names no boundary.' },
  unsupported_media_type: {
    message: 'The body must be JSON, with Content-Type: application/json, not text/plain.',
  },
  invalid_api_key: { message: 'This API key is not known or was revoked.' },
  insufficient_credits: {
    message: 'The run costs 15 credits and the balance is 2.5.',
    required_credits: 15,
    credits_balance: 2.5,
  },
  not_found: { message: 'There is nothing at GET /v2/models.' },
  model_not_found: { message: 'There is no model "nano-bananas"; GET /v1/models lists those there are.' },
  run_not_found: { message: 'There is no such run.' },
  upload_not_found: { message: 'There is no such upload, or no longer.' },
  method_not_allowed: { message: 'PATCH is not possible here; see the Allow header.' },
  run_ended: { message: 'The run has already ended.' },
  payload_too_large: { message: 'The body is larger than 1048576 bytes.' },
  idempotency_mismatch: {
    message: `This Idempotency-Key was used in the last ${IDEMPOTENCY_HOURS} hours for another request. Use a new one for this request.`,
  },
  rate_limited: {
    message: 'The account has 10000 uploads, which is the most. Delete some, or wait until they are deleted.',
  },
  internal_error: {
    message: 'Something broke on our side. Please give the request_id when you report it.',
  },
  unavailable: { message: 'The service cannot do this right now. Please try again in a moment.' },
}

/** An error of each code. */
export const errorExamples = Object.fromEntries(
  (Object.keys(errorStatus) as ErrorCode[]).map(code => {
    const { message, ...details } = refusals[code]
    return [code, { error: { code, message, request_id: REQUEST_ID, ...details } }]
  }),
) as Record<ErrorCode, ErrorBody>
