import { ProtocolErrorCode } from '@modelcontextprotocol/server'
import { ApiError } from '../http/api-error.ts'
import type { Context } from '../http/context.ts'
import { jsonBody } from '../http/middleware/json-body.ts'
import { jsonRpcError } from './json-rpc-error.ts'

const { InvalidRequest, ParseError } = ProtocolErrorCode

/** The message of a request; undefined if it is unreadable and was answered with a JSON-RPC error. */
export const readMessage = async (ctx: Context): Promise<unknown> => {
  try {
    await jsonBody(ctx, async () => undefined)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error
    // The body is set even if it is then found to be too deep, for example.
    const isJson = ctx.request.body !== undefined
    jsonRpcError(ctx, 400, isJson ? InvalidRequest : ParseError, error.message, error.details)
    return undefined
  }
  const message: unknown = ctx.request.body
  if (!Array.isArray(message)) return message
  // One request must not make a hundred calls, and the protocol has dropped batches.
  jsonRpcError(ctx, 400, InvalidRequest, 'Send one message per request: batches are not supported.')
  return undefined
}
