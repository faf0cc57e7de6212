import { IDEMPOTENCY_HOURS } from '../primitives.ts'
import { type ErrorBody, type ErrorCode, errorStatus } from './error.ts'

const REQUEST_ID = 'a969a179-30ad-4dcb-8baa-b78e9b9a7159'

/** The error of each code, without the code and the request ID. */
const refusals: Record<ErrorCode, Omit<ErrorBody['error'], 'code' | 'request_id'>> = {
  invalid_request: {
    message: 'Invalid body: /model is required.',
    errors: [{ path: '/model', message: 'is required' }],
  },
  invalid_input: {
    message: 'The input does not match the parameters_schema of nano-banana-2-t2i.',
    errors: [{ path: '/input/resolution', message: 'must be one of 1K, 2K, 4K' }],
  },
  invalid_multipart: {
    message: 'The Content-Type has no boundary; let your HTTP client set this header.',
  },
  unsupported_media_type: {
    message: 'The body must be JSON, with Content-Type: application/json, not text/plain.',
  },
  invalid_api_key: { message: 'This API key is unknown or was revoked.' },
  insufficient_credits: {
    message: [
      'The run costs 15 credits and the balance is 2.5.',
      'Choose a cheaper model or input, or ask the operator of the service for credits.',
    ].join(' '),
    required_credits: 15,
    credits_balance: 2.5,
  },
  budget_exceeded: {
    message: [
      'The run costs 10 credits, and this API key has spent 45 of its budget of 50 credits for this month.',
      'Wait until the budget renews at 2026-12-01T00:00:00.000Z, or use a key with a larger one.',
    ].join(' '),
    required_credits: 10,
    budget_credits: 50,
    spent_credits: 45,
    renews_at: '2026-12-01T00:00:00.000Z',
  },
  forbidden: {
    message: [
      'This API key has the scope "read", so it may only read: send GET requests, except for secrets and notices,',
      'make dry runs, and call read-only tools.',
      'For the rest, use a key with the scope "full", and for keys one with the scope "keys".',
    ].join(' '),
  },
  account_suspended: {
    message: 'This account is suspended (unpaid invoice). Contact the operator of the service to have it resumed.',
  },
  not_found: { message: 'No route matches GET /v2/models. GET /docs shows all routes.' },
  model_not_found: {
    message: [
      'There is no model "nano-bananas". GET /v1/models returns the models.',
      'Use the ID or an alias of a family, or the ID of an endpoint.',
    ].join(' '),
  },
  run_not_found: { message: 'There is no such run.' },
  upload_not_found: { message: 'The upload does not exist or was deleted.' },
  method_not_allowed: { message: 'PATCH is not allowed here; see the Allow header.' },
  run_ended: { message: 'The run has already ended.' },
  not_sealed: { message: 'No seal covers this event yet. Try again after the next seal, in some minutes.' },
  webhook_pending: { message: 'The webhook of this run is already being delivered.' },
  payload_too_large: { message: 'The body is larger than 1048576 bytes.' },
  idempotency_mismatch: {
    message: [
      `This Idempotency-Key was used for a different request in the last ${IDEMPOTENCY_HOURS} hours.`,
      'Use a new one for this request.',
    ].join(' '),
  },
  rate_limited: {
    message: 'The account already has 10000 uploads, which is the limit. Delete some or wait until they expire.',
  },
  internal_error: {
    message: 'An internal error occurred. Please include the request_id when you report it.',
  },
  unavailable: { message: 'The service cannot do this right now. Please try again in a moment.' },
}

/** An example of each error. A test compares them with what the service answers. */
export const errorExamples = Object.fromEntries(
  (Object.keys(errorStatus) as ErrorCode[]).map(code => {
    const { message, ...details } = refusals[code]
    return [code, { error: { code, message, request_id: REQUEST_ID, ...details } }]
  }),
) as Record<ErrorCode, ErrorBody>
