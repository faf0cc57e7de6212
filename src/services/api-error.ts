import { type ErrorBody, type ErrorCode, errorStatus } from '../../schemas/api/error.ts'
import { Unavailable } from '../ports/faults.ts'
import type { Logger } from '../ports/logger.ts'

type Details = Omit<ErrorBody['error'], 'code' | 'message' | 'request_id'>

/** A request that cannot be granted, as the client is told of it over HTTP or MCP. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly code: ErrorCode
  readonly details: Details

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message)
    this.code = code
    this.details = details
  }

  get status(): number {
    return errorStatus[this.code]
  }

  toBody(requestId: string): ErrorBody {
    const { code, message, details } = this
    return { error: { code, message, request_id: requestId, ...details } }
  }
}

/** What a client is told of anything that went wrong: nothing of what broke inside, which has a line of log with the facts given. */
export const toApiError = (error: unknown, logger: Logger, facts: { requestId: string; tool?: string }): ApiError => {
  if (error instanceof ApiError) return error
  if (error instanceof Unavailable) {
    logger.warn({ err: error, ...facts }, 'unavailable')
    return new ApiError('unavailable', 'The service cannot do this right now. Please try again in a moment.')
  }
  logger.error({ err: error, ...facts }, 'a request broke')
  return new ApiError('internal_error', 'Something broke on our side. Please give the request_id when you report it.')
}

/** A key that was good when the request came, and is no more. */
export const keyRevoked = () => new ApiError('invalid_api_key', 'This API key was revoked.')
