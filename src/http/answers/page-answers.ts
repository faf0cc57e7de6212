import type { Markup } from '#jsx/jsx-runtime'
import { htmlOf } from '../../console/document.tsx'
import type { Refusal } from '../../domain/refusal.ts'
import type { ApiError } from '../../transports/api-error.ts'
import { errorOf } from '../../transports/refusals.ts'
import type { Context } from '../context.ts'

/** Shows a page, or a fragment that replaces a part of one. */
export const showPage = (ctx: Context, page: Markup) => {
  const html = htmlOf(page, ctx.state.page)
  ctx.type = 'text/html'
  ctx.body = html.startsWith('<html') ? `<!doctype html>${html}` : html
}

/** Whether a script of the page asks for a fragment. */
export const isFragment = (ctx: Context): boolean => ctx.get('HX-Request') === 'true'

/** Shows a page for an error, or throws it for clients that ask for JSON. */
export const showError = (ctx: Context, error: ApiError, page: (message: string) => Markup) => {
  if (ctx.accepts('html', 'json') === 'json') throw error
  showPage(ctx, page(error.message))
  ctx.status = error.status
  if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds))
}

/** Shows a form again with its fault. */
export const showRefusal = (ctx: Context, refusal: Refusal, page: (fault: string) => Markup) =>
  showError(ctx, errorOf(refusal), page)

/** After a form, the browser asks for a page, so that reloading it does not send the form again. */
export const redirect = (ctx: Context, path: string) => {
  ctx.status = 303
  ctx.set('Location', path)
  ctx.type = 'text/plain'
  ctx.body = `See ${path}\n`
}
