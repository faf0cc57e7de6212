import type { Next } from 'koa'
import { koaBody } from 'koa-body'
import { ErrorPage } from '../../console/error-page.tsx'
import { FORM_TOKEN } from '../../console/parts/form.tsx'
import type { Logger } from '../../ports/logger.ts'
import type { SessionOwner } from '../../services/caller.ts'
import { ApiError, toApiError } from '../../transports/api-error.ts'
import { isFragment, redirect, showError } from '../answers/page-answers.ts'
import { bodyText, checkCharset, isUtf8Encoded } from '../bodies/utf8.ts'
import type { Context } from '../context.ts'
import type { BrowserSessions } from '../sessions/browser-sessions.ts'
import type { PageStates } from '../sessions/page-states.ts'
import { arrivesInTime } from './json-body.ts'
import { unreadPages } from './unread-responses.ts'

/** Only resources of this service, nothing inline, and no framing. Files come from the object store. */
const policyFor = (fileOrigins: readonly string[]) => {
  const files = ["'self'", ...fileOrigins].join(' ')
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${files} data: blob:`,
    `media-src ${files} blob:`,
    "font-src 'self'",
    `connect-src ${files}`,
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** The forms of people who have not signed in have one short field. */
const MAX_FORM_BYTES = 4 * 1024

/** Twice the longest input of a model. */
const MAX_OWNER_FORM_BYTES = 512 * 1024

interface Dependencies {
  logger: Logger
  sessions: BrowserSessions
  pageStates: PageStates
  /** The origins that files come from and go to, besides the service's own. */
  fileOrigins: readonly string[]
}

/**
 * Answers with pages. An error is a page too, or JSON for clients that ask for JSON. Reads every form, and refuses
 * those that no page of this service sends.
 */
export const pages = ({ logger, sessions, pageStates, fileOrigins }: Dependencies) => {
  const policy = policyFor(fileOrigins)
  /** People who are signed in keep the frame of the console, unless the error is that it cannot be made. */
  const showAccount = async (ctx: Context) => {
    if (!ctx.state.page.isSignedIn || ctx.state.page.account) return
    const owner = await sessions.ownerOf(ctx).catch(() => undefined)
    const state = owner && (await pageStates.ofOwner(ctx, owner).catch(() => undefined))
    if (state) ctx.state.page = state
  }
  return async (ctx: Context, next: Next) => {
    ctx.set('Content-Security-Policy', policy)
    ctx.set('X-Content-Type-Options', 'nosniff')
    // With `no-referrer`, browsers would hide the origin of forms too.
    ctx.set('Referrer-Policy', 'same-origin')
    ctx.set('Cache-Control', 'no-store')
    const isSignedIn = await sessions.isSignedIn(ctx)
    ctx.state.page = pageStates.of(ctx, isSignedIn)
    try {
      if (ctx.method === 'POST') {
        sessions.refuseOtherSites(ctx)
        ctx.state.form = await formOf(ctx, isSignedIn ? readOwnerForm : readForm)
        sessions.checkForm(ctx, ctx.state.form.get(FORM_TOKEN) ?? '')
      }
      await next()
    } catch (error) {
      const { requestId } = ctx.state
      const shown = toApiError(error, logger, { requestId })
      ctx.state.failedPart = shown.part
      await showAccount(ctx)
      showError(ctx, shown, message => ErrorPage({ status: shown.status, message, requestId }))
    }
  }
}

export type ForOwner = (
  handle: (ctx: Context, owner: SessionOwner) => Promise<void> | void,
) => (ctx: Context) => Promise<void>

/** Handles the requests of people who have signed in, and redirects others to the sign-in page. */
export const ownerOnly =
  (
    sessions: Pick<BrowserSessions, 'ownerOf'>,
    pageStates: Pick<PageStates, 'ofOwner'>,
    unread = unreadPages(),
  ): ForOwner =>
  handle =>
  async ctx => {
    const owner = await sessions.ownerOf(ctx)
    if (!owner) return signInFirst(ctx)
    unread.check(owner.accountId)
    ctx.state.page = await pageStates.ofOwner(ctx, owner)
    await handle(ctx, owner)
    unread.count(ctx, owner.accountId)
  }

export type ForAnyone = (
  handle: (ctx: Context, owner: SessionOwner | undefined) => Promise<void> | void,
) => (ctx: Context) => Promise<void>

/** Handles the requests of everyone, and knows the account of people who have signed in. */
export const anyone =
  (sessions: BrowserSessions, pageStates: PageStates): ForAnyone =>
  handle =>
  async ctx => {
    const owner = ctx.state.page.isSignedIn ? await sessions.ownerOf(ctx) : undefined
    if (owner) ctx.state.page = await pageStates.ofOwner(ctx, owner)
    await handle(ctx, owner)
  }

/** htmx would put the page of a redirect into the fragment that it replaces. */
const signInFirst = (ctx: Context) => {
  redirect(ctx, SIGN_IN)
  if (!isFragment(ctx)) return
  ctx.set('HX-Redirect', SIGN_IN)
  ctx.status = 200
}

const SIGN_IN = '/console/sign-in'

const formReader = (maxBytes: number) =>
  koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    textTypes: ['urlencoded'],
    textLimit: maxBytes,
    encoding: '',
    onError: error => {
      const isLarge = (error as { status?: number }).status === 413
      throw isLarge
        ? new ApiError('payload_too_large', `A form may have at most ${maxBytes} bytes.`)
        : new ApiError('invalid_request', `The form cannot be read: ${error.message}.`)
    },
  })

const readForm = formReader(MAX_FORM_BYTES)
const readOwnerForm = formReader(MAX_OWNER_FORM_BYTES)

const formOf = async (ctx: Context, read: ReturnType<typeof formReader>): Promise<URLSearchParams> => {
  if (!ctx.is('urlencoded'))
    throw new ApiError('unsupported_media_type', 'A form must have the type application/x-www-form-urlencoded.')
  checkCharset(ctx)
  await arrivesInTime(
    ctx,
    read(ctx, async () => undefined),
  )
  const text = bodyText(ctx)
  if (text === undefined || !isUtf8Encoded(text)) throw new ApiError('invalid_request', 'The form is not in UTF-8.')
  return new URLSearchParams(text)
}

/** A field of the form that was sent; empty if it is missing. */
export const formField = ({ state }: Context, name: string): string => state.form?.get(name) ?? ''
