import type { Next } from 'koa'
import { koaBody } from 'koa-body'
import { ErrorPage } from '../../console/error-page.tsx'
import type { Logger } from '../../ports/logger.ts'
import type { SessionOwner } from '../../services/caller.ts'
import { ApiError, toApiError } from '../../transports/api-error.ts'
import { redirect, showError } from '../answers/page-answers.ts'
import { bodyText, checkCharset, isUtf8Encoded } from '../bodies/utf8.ts'
import type { Context } from '../context.ts'
import type { BrowserSessions } from '../sessions/browser-sessions.ts'
import { arrivesInTime } from './json-body.ts'

/** Only resources of this service, no scripts, and no framing. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Forms have one short field. */
const MAX_FORM_BYTES = 4096

/** Answers with pages. An error is a page too, or JSON for clients that ask for JSON. */
export const pages = (logger: Logger, sessions: BrowserSessions) => async (ctx: Context, next: Next) => {
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  ctx.set('X-Content-Type-Options', 'nosniff')
  // With `no-referrer`, browsers would hide the origin of forms too.
  ctx.set('Referrer-Policy', 'same-origin')
  ctx.set('Cache-Control', 'no-store')
  try {
    await next()
  } catch (error) {
    const { requestId } = ctx.state
    const isSignedIn = await sessions.isSignedIn(ctx)
    showError(ctx, toApiError(error, logger, { requestId }), message => ErrorPage({ message, requestId, isSignedIn }))
  }
}

/** Handles the requests of people who have signed in, and redirects others to the sign-in page. */
export const ownerOnly =
  (sessions: BrowserSessions) =>
  (handle: (ctx: Context, owner: SessionOwner) => Promise<void> | void) =>
  async (ctx: Context) => {
    sessions.refuseOtherSites(ctx)
    const owner = await sessions.ownerOf(ctx)
    if (owner) await handle(ctx, owner)
    else redirect(ctx, '/console/sign-in')
  }

const read = koaBody({
  json: false,
  urlencoded: false,
  multipart: false,
  textTypes: ['urlencoded'],
  textLimit: MAX_FORM_BYTES,
  encoding: '',
  onError: error => {
    const isLarge = (error as { status?: number }).status === 413
    throw isLarge
      ? new ApiError('payload_too_large', `A form may have at most ${MAX_FORM_BYTES} bytes.`)
      : new ApiError('invalid_request', `The form cannot be read: ${error.message}.`)
  },
})

/** A field of the form that was sent; empty if it is missing. */
export const formField = async (ctx: Context, name: string): Promise<string> => (await formFields(ctx))(name)

/** Reads the form that was sent, and returns a function that looks up its fields. */
export const formFields = async (ctx: Context): Promise<(name: string) => string> => {
  if (!ctx.is('urlencoded'))
    throw new ApiError('unsupported_media_type', 'A form must have the type application/x-www-form-urlencoded.')
  checkCharset(ctx)
  await arrivesInTime(
    ctx,
    read(ctx, async () => undefined),
  )
  const text = bodyText(ctx)
  if (text === undefined || !isUtf8Encoded(text)) throw new ApiError('invalid_request', 'The form is not in UTF-8.')
  const fields = new URLSearchParams(text)
  return name => fields.get(name) ?? ''
}
