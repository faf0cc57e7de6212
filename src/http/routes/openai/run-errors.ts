import type { ErrorCode } from '../../../../schemas/api/error.ts'

/** The errors of requests that run a model, and the failures of runs. */
export const runErrors: ErrorCode[] = [
  ...(['invalid_input', 'insufficient_credits', 'budget_exceeded', 'model_not_found', 'idempotency_mismatch'] as const),
  ...(['content_rejected', 'cancelled', 'provider_error', 'interrupted', 'provider_timeout'] as const),
]
