import type { Context, Middleware } from '../http/context.ts'
import { jsonRpcError } from './read-message.ts'

/** The JSON-RPC code for server-defined errors. The HTTP status is more precise. */
const REFUSED = -32000

/** The headers that clients of either revision send and read. */
const REQUEST_HEADERS =
  'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID, X-Request-Id'
const ANSWER_HEADERS = 'X-Request-Id, Retry-After, WWW-Authenticate'

/**
 * Refuses pages of sites that are not allowed, since DNS rebinding could make a browser call this service for them
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, "Security Warning"). Pages of allowed
 * sites get CORS headers (https://fetch.spec.whatwg.org/#http-cors-protocol). Other clients send no origin and pass.
 */
export const allowOrigins =
  (allowed: () => string[]): Middleware =>
  async (ctx: Context, next) => {
    ctx.vary('Origin')
    const origin = ctx.get('Origin')
    if (origin !== '') {
      if (!allowed().includes(origin)) return jsonRpcError(ctx, 403, REFUSED, refusalOf(origin))
      ctx.set('Access-Control-Allow-Origin', origin)
      ctx.set('Access-Control-Expose-Headers', ANSWER_HEADERS)
    }
    if (ctx.method !== 'OPTIONS') return next()
    ctx.set('Access-Control-Allow-Methods', 'POST')
    ctx.set('Access-Control-Allow-Headers', REQUEST_HEADERS)
    ctx.set('Access-Control-Max-Age', '86400')
    ctx.status = 204
  }

const refusalOf = (origin: string) =>
  `Pages from ${origin} may not call /mcp; the operator can add the site to ALLOWED_ORIGINS.`
