import type { Context, Middleware } from '../http/context.ts'
import { jsonRpcError } from './json-rpc-error.ts'

/** The protocol's own, for what HTTP says better. */
const REFUSED = -32000

/** What clients of either era send, and what they want to read. */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, X-Request-Id'
const ANSWER_HEADERS = 'X-Request-Id, Retry-After, WWW-Authenticate'

/**
 * Refuses pages of sites that are not allowed: a browser that is led to an address of this machine or network under another
 * name would call for them (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
 * Others get what a browser asks for before it lets them (https://fetch.spec.whatwg.org/#http-cors-protocol). What is no
 * browser names no origin, and passes.
 */
export const allowOrigins =
  (allowed: () => string[]): Middleware =>
  async (ctx: Context, next) => {
    ctx.vary('Origin')
    const origin = ctx.get('Origin')
    if (origin !== '') {
      if (!allowed().includes(origin)) return jsonRpcError(ctx, 403, REFUSED, `Pages of ${origin} may not call.`)
      ctx.set('Access-Control-Allow-Origin', origin)
      ctx.set('Access-Control-Expose-Headers', ANSWER_HEADERS)
    }
    if (ctx.method !== 'OPTIONS') return next()
    ctx.set('Access-Control-Allow-Methods', 'POST')
    ctx.set('Access-Control-Allow-Headers', REQUEST_HEADERS)
    ctx.set('Access-Control-Max-Age', '86400')
    ctx.status = 204
  }
