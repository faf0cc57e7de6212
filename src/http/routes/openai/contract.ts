import type { ErrorCode } from '../../../../schemas/api/error.ts'
import { IdempotencyKey, IdempotentReplayed, TollgateRun } from '../../../../schemas/api/headers.ts'

/** What the contracts of all routes have in common. */
export const contract = {
  method: 'post',
  tag: 'OpenAI',
  auth: 'key or session',
  headers: { 'Idempotency-Key': IdempotencyKey },
} as const

/** The headers of an answer, which name its run. */
export const answerHeaders = { 'Tollgate-Run': TollgateRun, 'Idempotent-Replayed': IdempotentReplayed }

/** The errors of requests that run a model, and the failures of runs. */
export const runErrors: ErrorCode[] = [
  ...(['invalid_input', 'insufficient_credits', 'budget_exceeded', 'model_not_found', 'idempotency_mismatch'] as const),
  ...(['content_rejected', 'cancelled', 'provider_error', 'interrupted', 'provider_timeout', 'not_found'] as const),
]
