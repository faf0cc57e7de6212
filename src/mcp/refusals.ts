import { type ErrorTable, errorOf, refusals as http } from '../http/refusals.ts'
import type { Answer } from '../services/answer.ts'

/** The value of an answer. Throws ApiError for a refusal. */
export const unwrap = <Value>(answer: Answer<Value>): Value => {
  if ('refuse' in answer) throw errorOf(refusals, answer.refuse)
  return answer.value
}

/**
 * The code and words of every refusal of a tool. Agents get the words of HTTP clients. Each code is listed, so that a
 * new refusal does not compile until its words have been checked for agents.
 */
export const refusals = {
  forbidden: http.forbidden,
  account_exists: http.account_exists,
  account_not_found: http.account_not_found,
  email_invalid: http.email_invalid,
  balance_too_high: http.balance_too_high,
  key_exists: http.key_exists,
  key_not_found: http.key_not_found,
  key_revoked: http.key_revoked,
  too_many_keys: http.too_many_keys,
  reference_mismatch: http.reference_mismatch,
  too_many_references: http.too_many_references,
  refunds_changed: http.refunds_changed,
  refund_too_high: http.refund_too_high,
  model_not_found: http.model_not_found,
  model_not_listed: http.model_not_listed,
  kind_not_offered: http.kind_not_offered,
  input_invalid: http.input_invalid,
  input_file_refused: http.input_file_refused,
  part_too_large: http.part_too_large,
  webhook_url_invalid: http.webhook_url_invalid,
  insufficient_credits: http.insufficient_credits,
  idempotency_mismatch: http.idempotency_mismatch,
  run_exists: http.run_exists,
  run_not_found: http.run_not_found,
  run_not_open: http.run_not_open,
  run_already_started: http.run_already_started,
  run_not_started: http.run_not_started,
  run_already_submitted: http.run_already_submitted,
  run_not_ended: http.run_not_ended,
  webhook_not_found: http.webhook_not_found,
  webhook_not_pending: http.webhook_not_pending,
  webhook_pending: http.webhook_pending,
  upload_exists: http.upload_exists,
  upload_not_found: http.upload_not_found,
  upload_not_sent: http.upload_not_sent,
  upload_already_stored: http.upload_already_stored,
  too_many_uploads: http.too_many_uploads,
  upload_too_large: http.upload_too_large,
  declared_type_not_accepted: http.declared_type_not_accepted,
  declared_type_unspecific: http.declared_type_unspecific,
  file_empty: http.file_empty,
  file_too_large: http.file_too_large,
  file_type_not_accepted: http.file_type_not_accepted,
  file_type_mismatch: http.file_type_mismatch,
  file_sent_as_other_type: http.file_sent_as_other_type,
  file_truncated: http.file_truncated,
  file_ambiguous: http.file_ambiguous,
  file_not_image: http.file_not_image,
  file_not_found: http.file_not_found,
  file_over_limit: http.file_over_limit,
  put_address_invalid: http.put_address_invalid,
  put_address_expired: http.put_address_expired,
  put_too_large: http.put_too_large,
  put_type_mismatch: http.put_type_mismatch,
  put_interrupted: http.put_interrupted,
  family_exists: http.family_exists,
  family_not_found: http.family_not_found,
  family_unchanged: http.family_unchanged,
  family_invalid: http.family_invalid,
} satisfies ErrorTable
