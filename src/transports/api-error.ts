import { type ErrorBody, type ErrorCode, errorStatus } from '../../schemas/api/error.ts'
import { visible } from '../domain/visible-text.ts'
import { type Part, Unavailable } from '../ports/faults.ts'
import type { Logger } from '../ports/logger.ts'

export type ErrorDetails = Omit<ErrorBody['error'], 'code' | 'message' | 'request_id'>

interface ErrorFacts {
  cause?: unknown
  retryAfterSeconds?: number | undefined
  part?: Part
}

/** An error as API clients and agents see it. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly details: ErrorDetails
  /** When to retry; undefined leaves it to the code. */
  readonly retryAfterSeconds: number | undefined
  /** What was unavailable, for metrics. */
  readonly part: Part

  /** The cause is logged, and clients do not see it. */
  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
    { cause, retryAfterSeconds, part }: ErrorFacts = {},
  ) {
    super(visible(message), { cause })
    this.part = part ?? (cause instanceof Unavailable ? cause.part : 'other')
    this.code = code
    this.details = details
    this.retryAfterSeconds = retryAfterSeconds
  }

  get status(): number {
    return errorStatus[this.code]
  }

  toBody(requestId: string): ErrorBody {
    const { code, message, details } = this
    return { error: { code, message, request_id: requestId, ...details } }
  }
}

/** Converts any error for the client. Internal errors go only to the log, with the given facts. */
export const toApiError = (error: unknown, logger: Logger, facts: { requestId: string; tool?: string }): ApiError => {
  const cause = error instanceof ApiError ? error.cause : error
  if (cause instanceof Unavailable) logger.warn({ err: cause, ...facts }, 'unavailable')
  if (error instanceof ApiError) return error
  if (error instanceof Unavailable)
    return new ApiError(
      'unavailable',
      'The service cannot do this right now. Please try again in a moment.',
      {},
      { cause: error },
    )
  logger.error({ err: error, ...facts }, 'request failed unexpectedly')
  return new ApiError('internal_error', 'An internal error occurred. Please include the request_id when you report it.')
}
