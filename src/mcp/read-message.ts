import type { JsonRpcError } from '../../schemas/api/mcp.ts'
import { MAX_MCP_BYTES } from '../../schemas/primitives.ts'
import { NotJson } from '../http/bodies/bounded-json.ts'
import type { Context } from '../http/context.ts'
import { jsonBody } from '../http/middleware/json-body.ts'
import { ApiError } from '../transports/api-error.ts'

const readBody = jsonBody(MAX_MCP_BYTES)

/** The message of a request; undefined if it is unreadable and the response is a JSON-RPC error. */
export const readMessage = async (ctx: Context): Promise<unknown> => {
  try {
    await readBody(ctx, async () => undefined)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'invalid_request') throw error
    jsonRpcError(ctx, 400, error instanceof NotJson ? PARSE_ERROR : INVALID_REQUEST, error.message, error.details)
    return undefined
  }
  const message: unknown = ctx.request.body
  if (!Array.isArray(message)) return message
  // A batch could make a hundred calls in one request, and newer revisions of the protocol have no batches.
  jsonRpcError(ctx, 400, INVALID_REQUEST, 'Send one message per request: batches are not supported.')
  return undefined
}

/** The codes for unreadable messages (https://www.jsonrpc.org/specification, section 5.1). */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600

/** Responds to a request whose message was not read, so the id is unknown. */
export const jsonRpcError = (ctx: Context, status: number, code: number, message: string, data?: object) => {
  ctx.status = status
  ctx.body = { jsonrpc: '2.0', error: { code, message, ...(data && { data }) }, id: null } satisfies JsonRpcError
}
