import type { Next } from 'koa'
import type { Context } from '../context.ts'

/** Browsers run nothing in an answer, guess no other type for it, and show it in no frame. Pages and files say more. */
export const passiveAnswers = (ctx: Context, next: Next) => {
  ctx.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
  ctx.set('X-Content-Type-Options', 'nosniff')
  return next()
}
