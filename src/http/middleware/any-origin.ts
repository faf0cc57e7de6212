import type { Next } from 'koa'
import type { Context } from '../context.ts'

/**
 * Lets pages of any site read files and send them to presigned URLs
 * (https://fetch.spec.whatwg.org/#http-cors-protocol). Neither needs a cookie or key, so a page can do only what anyone
 * with the URL can.
 */
export const anyOrigin = async (ctx: Context, next: Next) => {
  ctx.set('Access-Control-Allow-Origin', '*')
  ctx.set('Access-Control-Expose-Headers', 'ETag, Content-Range, Accept-Ranges, X-Request-Id')
  if (ctx.method !== 'OPTIONS') return next()
  ctx.set('Access-Control-Allow-Methods', 'GET, HEAD, PUT')
  ctx.set('Access-Control-Allow-Headers', 'Content-Type, Range, If-Range')
  ctx.set('Access-Control-Max-Age', '86400')
  ctx.status = 204
}
