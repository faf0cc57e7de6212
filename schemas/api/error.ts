import { type Static, Type } from 'typebox'
import { Closed, IDEMPOTENCY_HOURS, Label, OneOf, Slug, Timestamp } from '../primitives.ts'
import { about } from './about.ts'
import { CreditsOffer } from './packs.ts'

/** Every error code of the API with its HTTP status. The list is closed: clients rely on it. */
export const errorStatus = {
  invalid_request: 400,
  invalid_input: 400,
  price_above_limit: 400,
  budget_not_found: 400,
  invalid_multipart: 400,
  unsupported_media_type: 400,
  content_rejected: 400,
  cancelled: 400,
  invalid_api_key: 401,
  insufficient_credits: 402,
  budget_exceeded: 402,
  forbidden: 403,
  account_suspended: 403,
  not_found: 404,
  model_not_found: 404,
  run_not_found: 404,
  upload_not_found: 404,
  method_not_allowed: 405,
  run_ended: 409,
  not_sealed: 409,
  webhook_pending: 409,
  payload_too_large: 413,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal_error: 500,
  provider_error: 502,
  interrupted: 502,
  unavailable: 503,
  provider_timeout: 504,
} as const
export const ErrorCode = Type.Unsafe<keyof typeof errorStatus>({
  type: 'string',
  enum: Object.keys(errorStatus),
  description: 'The kind of error, for programs. The list is closed.',
})
export type ErrorCode = Static<typeof ErrorCode>

/** The meaning of each code for a client. */
export const errorMeanings: Record<ErrorCode, string> = {
  invalid_request: 'The request is malformed or does not match this description. `errors` lists the faults.',
  invalid_input: [
    'The `input` does not match the `parameters_schema` of the endpoint, a file of the `input` cannot be used, or',
    'a URL in the `input` or the `webhook_url` has a host that the service does not contact. `errors` lists the',
    'faults.',
  ].join(' '),
  price_above_limit: 'The run can cost more than its `max_credits`. Nothing was charged.',
  budget_not_found: 'The account has no budget with the name that the run gives as `budget`. Nothing was charged.',
  invalid_multipart: 'The body is not a valid multipart form.',
  unsupported_media_type: 'The type of the body or file is not supported.',
  content_rejected: 'The provider rejected the content. The run failed, and was refunded.',
  cancelled: 'The run was cancelled, and refunded.',
  invalid_api_key: 'The API key is missing or unknown, was revoked or has expired.',
  insufficient_credits: [
    'The run costs more than the balance, or the account owes credits since a payment was disputed. Nothing was',
    'charged.',
  ].join(' '),
  budget_exceeded: [
    'The run costs more than the API key, or the `budget` of the run, may still spend until `renews_at`. Nothing was',
    'charged. The service checks the budgets before the balance.',
  ].join(' '),
  forbidden: [
    'The API key does not allow the request, because of its scope or because it is restricted to other models or',
    'client addresses. Keys of auditors work only on the routes for auditors, which accept no other keys.',
  ].join(' '),
  account_suspended: 'The operator has suspended the account. Nothing was charged. `message` gives the reason.',
  not_found: 'Nothing exists at this URL.',
  model_not_found: 'The model does not exist or was withdrawn. `replaced_by` names the replacement, if there is one.',
  run_not_found: 'The account has no run with this ID.',
  upload_not_found: 'The account has no upload with this ID, or the file has not arrived or was deleted.',
  method_not_allowed: 'The URL does not support this method. The `Allow` header lists the methods it supports.',
  run_ended: 'The run has already ended.',
  webhook_pending: 'The run has not ended, or attempts to deliver its webhook are still due.',
  not_sealed: 'No seal covers the event yet. Try again after the next seal.',
  payload_too_large: 'The body or file exceeds the size limit.',
  idempotency_mismatch: `The idempotency key was used for a different request in the last ${IDEMPOTENCY_HOURS} hours.`,
  rate_limited: 'The account or auditor has reached a limit. Retry after `Retry-After` seconds.',
  internal_error: 'The service failed to process the request.',
  provider_error: 'The provider failed. The run was refunded.',
  interrupted: 'The service stopped during the run, which was refunded.',
  unavailable: 'The service is temporarily unavailable. Retry after `Retry-After` seconds.',
  provider_timeout: 'The provider took too long. The run was refunded.',
}

/** The kinds of errors that clients of OpenAI's API know. */
export const ErrorType = OneOf(
  ...(['invalid_request_error', 'authentication_error', 'permission_error'] as const),
  ...(['insufficient_quota', 'rate_limit_error', 'api_error'] as const),
)
export type ErrorType = Static<typeof ErrorType>

/** One fault in a request. */
export const Fault = Closed({
  path: about(
    Type.String(),
    'The location: a JSON Pointer into the body, form or query, or `/headers/` and a header name.',
    '/input/resolution',
  ),
  message: about(Type.String(), 'The problem at that location.', 'must be one of 1K, 2K, 4K'),
})
export type Fault = Static<typeof Fault>

export const ErrorBody = Closed({
  error: Closed({
    code: ErrorCode,
    message: about(Type.String(), 'The explanation of the error, for people.'),
    request_id: about(
      Type.String(),
      'The ID to quote when you report the error.',
      'a969a179-30ad-4dcb-8baa-b78e9b9a7159',
    ),
    type: Type.Optional(about(ErrorType, 'The kind of error in the words of OpenAI, on the routes of its API.')),
    param: Type.Optional(
      about(
        Type.Union([Type.String(), Type.Null()]),
        'The parameter with the first fault, on the routes of OpenAI’s API; null if there is none.',
        'messages[0].content',
      ),
    ),
    errors: Type.Optional(about(Type.Array(Fault), 'The faults that have a location in the request, at most 50.')),
    replaced_by: Type.Optional(
      about(Slug, 'The model to use in place of a withdrawn one, for `model_not_found`.', 'gemini-omni-flash'),
    ),
    required_credits: Type.Optional(
      about(
        Type.Number(),
        'The price of the run, for `insufficient_credits`, `budget_exceeded` and `price_above_limit`.',
        10,
      ),
    ),
    max_credits: Type.Optional(about(Type.Number(), 'The `max_credits` of the request, for `price_above_limit`.', 5)),
    credits_balance: Type.Optional(about(Type.Number(), 'The balance, for `insufficient_credits`.', 2.5)),
    credits_owed: Type.Optional(
      about(
        Type.Number(),
        'The credits that the account owes since a payment was disputed, for `insufficient_credits`.',
        120,
      ),
    ),
    offers: Type.Optional(
      about(
        Type.Array(CreditsOffer),
        [
          'What the account can buy, for `insufficient_credits`, if the service sells credits: first what covers the',
          'missing credits.',
        ].join(' '),
      ),
    ),
    budget: Type.Optional(
      about(Label, 'The budget of the run, for `budget_exceeded`. Absent if it is that of the API key.', 'customer 17'),
    ),
    budget_credits: Type.Optional(
      about(Type.Number(), 'The credits that the budget allows in each period, for `budget_exceeded`.', 50),
    ),
    spent_credits: Type.Optional(
      about(Type.Number(), 'The credits of the budget that are spent in this period, for `budget_exceeded`.', 45),
    ),
    renews_at: Type.Optional(
      about(
        Timestamp,
        'When the next period begins, for `budget_exceeded`. Absent for a budget without a period.',
        '2026-12-01T00:00:00.000Z',
      ),
    ),
  }),
})
export type ErrorBody = Static<typeof ErrorBody>
