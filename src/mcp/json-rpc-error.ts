import type { JsonRpcError } from '../../schemas/api/mcp.ts'
import type { Context } from '../http/context.ts'

/** Responds to a request whose message was not read, so there is no id. */
export const jsonRpcError = (ctx: Context, status: number, code: number, message: string, data?: object) => {
  ctx.status = status
  ctx.body = { jsonrpc: '2.0', error: { code, message, ...(data && { data }) }, id: null } satisfies JsonRpcError
}
