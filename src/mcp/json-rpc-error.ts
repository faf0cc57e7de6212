import type { JsonRpcError } from '../../schemas/api/mcp.ts'
import type { Context } from '../http/context.ts'

/** The codes for unreadable messages (https://www.jsonrpc.org/specification, section 5.1). */
export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600

/** Responds to a request whose message was not read, so there is no id. */
export const jsonRpcError = (ctx: Context, status: number, code: number, message: string, data?: object) => {
  ctx.status = status
  ctx.body = { jsonrpc: '2.0', error: { code, message, ...(data && { data }) }, id: null } satisfies JsonRpcError
}
