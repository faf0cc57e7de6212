import { type ErrorBody, type ErrorCode, errorStatus } from '../../schemas/api/error.ts'

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
}

/** A key that was good when the request came, and is no more. */
export const keyRevoked = () => new ApiError('invalid_api_key', 'This API key was revoked.')
