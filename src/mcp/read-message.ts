import { ProtocolErrorCode } from '@modelcontextprotocol/server'
import { ApiError } from '../engine/api-error.ts'
import type { Context } from '../http/context.ts'
import { jsonBody } from '../http/middleware/json-body.ts'
import { jsonRpcError } from './json-rpc-error.ts'

/** The one message of a request; undefined where there is none, which is answered then in the words of the protocol. */
export const readMessage = async (ctx: Context): Promise<unknown> => {
  try {
    await jsonBody(ctx, async () => undefined)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error
    return jsonRpcError(ctx, 400, ProtocolErrorCode.ParseError, error.message)
  }
  const message: unknown = ctx.request.body
  if (!Array.isArray(message)) return message
  // One request may not be a hundred calls; batches have left the protocol.
  return jsonRpcError(ctx, 400, ProtocolErrorCode.InvalidRequest, 'Send one message a request: batches are not taken.')
}
