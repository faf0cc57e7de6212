import { ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Context } from '../http/context.ts'
import { jsonBody } from '../http/middleware/json-body.ts'
import { ApiError } from '../services/api-error.ts'
import { jsonRpcError } from './json-rpc-error.ts'

const { InvalidRequest, ParseError } = ProtocolErrorCode

/** The one message of a request. Undefined where it cannot be read: then the client has been answered, with a JSON-RPC error. */
export const readMessage = async (ctx: Context): Promise<unknown> => {
  try {
    await jsonBody(ctx, async () => undefined)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error
    // What was parsed is there already when it is found to be too deep, say.
    const isJson = ctx.request.body !== undefined
    jsonRpcError(ctx, 400, isJson ? InvalidRequest : ParseError, error.message, error.details)
    return undefined
  }
  const message: unknown = ctx.request.body
  if (!Array.isArray(message)) return message
  // One request may not be a hundred calls; batches have left the protocol.
  jsonRpcError(ctx, 400, InvalidRequest, 'Send one message a request: batches are not taken.')
  return undefined
}
