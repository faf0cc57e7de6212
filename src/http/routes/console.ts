import Router from '@koa/router'
import type { VNode } from 'preact'
import { CodePage } from '../../console/code-page.tsx'
import { HomePage } from '../../console/home-page.tsx'
import { htmlOf, STYLE_PATH } from '../../console/layout.tsx'
import { type RegistrationNote, SignInPage } from '../../console/sign-in-page.tsx'
import { style } from '../../console/style.ts'
import { fromMicros } from '../../domain/money.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Logger } from '../../ports/logger.ts'
import type { SessionOwner } from '../../services/caller.ts'
import type { Services } from '../../services/services.ts'
import { CODE_MS } from '../../services/sign-in/sign-in.ts'
import { clientAddress, networkOf, type TrustedAddress } from '../connections.ts'
import { anonymousCaller, type Context, type RequestState } from '../context.ts'
import { formField, pages } from '../middleware/pages.ts'
import type { BrowserSessions } from '../middleware/session.ts'
import { errorOf, unwrap, words } from '../refusals.ts'
import { StaticBody } from '../static-body.ts'
import { PendingCode } from './pending-code.ts'

export interface ConsoleParts {
  services: Services
  sessions: BrowserSessions
  registration: RegistrationNote
  /** The folder that mail is written to, if it goes no further. */
  mailFolder: string | undefined
  isTrusted: TrustedAddress
  logger: Logger
}

const SIGN_IN = '/console/sign-in'
const ENTER_CODE = '/console/sign-in/code'

const styleSheet = new StaticBody('text/css', style)

/** The pages for the owners of accounts. They are for people, so the description of the API leaves them out. */
export const consoleRouter = ({ services, sessions, registration, mailFolder, isTrusted, logger }: ConsoleParts) => {
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  const pending = new PendingCode(sessions.cookies, 'sign-in')
  const networkIn = (ctx: Context) => networkOf(clientAddress(ctx.req, isTrusted) ?? '')
  const codePage = (email: string, fault?: string) =>
    CodePage({
      ...{ email, fault, folder: mailFolder, minutes: CODE_MS / 60_000 },
      ...{ action: ENTER_CODE, back: SIGN_IN, button: 'Sign in' },
    })

  router.use(pages(logger))

  router.get(STYLE_PATH, ctx => {
    ctx.set('Cache-Control', 'no-cache')
    return styleSheet.answer(ctx)
  })

  router.get(SIGN_IN, async ctx => {
    if (await sessions.ownerOf(ctx)) return redirect(ctx, '/console')
    show(ctx, SignInPage({ registration }))
  })

  router.post(SIGN_IN, async ctx => {
    sessions.refuseOtherSites(ctx)
    const email = await formField(ctx, 'email')
    const requested = await services.signIn.requestCode(anonymousCaller(ctx), { email, network: networkIn(ctx) })
    if ('refuse' in requested)
      return refuseWith(ctx, requested.refuse, fault => SignInPage({ email, fault, registration }))
    pending.write(ctx, { email, codeId: requested.value.codeId })
    redirect(ctx, ENTER_CODE)
  })

  router.get(ENTER_CODE, ctx => {
    const code = pending.read(ctx)
    if (code) show(ctx, codePage(code.email))
    else redirect(ctx, SIGN_IN)
  })

  router.post(ENTER_CODE, async ctx => {
    sessions.refuseOtherSites(ctx)
    const code = await formField(ctx, 'code')
    const requested = pending.read(ctx)
    if (!requested) return redirect(ctx, SIGN_IN)
    const earlierToken = sessions.tokenOf(ctx)
    const entry = { ...requested, code, network: networkIn(ctx), earlierToken }
    const entered = await services.signIn.enterCode(anonymousCaller(ctx), entry)
    if ('refuse' in entered) return refuseWith(ctx, entered.refuse, fault => codePage(requested.email, fault))
    pending.remove(ctx)
    sessions.begin(ctx, entered.value.token)
    redirect(ctx, '/console')
  })

  router.get('/console', async ctx => {
    const owner = await sessions.ownerOf(ctx)
    if (!owner) return redirect(ctx, SIGN_IN)
    const { balanceMicros } = unwrap(await services.accounts.balance(owner))
    const identities = unwrap(await services.sessions.identities(owner))
    show(ctx, HomePage({ accountId: owner.accountId, identities, balanceCredits: fromMicros(balanceMicros) }))
  })

  const signOut =
    (close: (owner: SessionOwner) => ReturnType<Services['sessions']['close']>) => async (ctx: Context) => {
      sessions.refuseOtherSites(ctx)
      const owner = await sessions.ownerOf(ctx)
      // A session that ended meanwhile is what was asked for.
      if (owner) await close(owner)
      sessions.end(ctx)
      redirect(ctx, SIGN_IN)
    }
  router.post(
    '/console/sign-out',
    signOut(owner => services.sessions.close(owner)),
  )
  router.post(
    '/console/sign-out-everywhere',
    signOut(owner => services.sessions.closeAll(owner)),
  )
  return router
}

const show = (ctx: Context, page: VNode) => {
  ctx.type = 'text/html'
  ctx.body = htmlOf(page)
}

/** After a form, the browser asks for a page, so that reloading it does not send the form again. */
const redirect = (ctx: Context, path: string) => {
  ctx.status = 303
  ctx.set('Location', path)
  ctx.type = 'text/plain'
  ctx.body = `See ${path}\n`
}

/** Shows the form again with what is wrong, or the error to clients that ask for JSON. */
const refuseWith = (ctx: Context, refusal: Refusal, page: (fault: string) => VNode) => {
  const error = errorOf(words, refusal)
  if (ctx.accepts('html', 'json') === 'json') throw error
  show(ctx, page(error.message))
  ctx.status = error.status
  if (error.retryAfterSeconds !== undefined) ctx.set('Retry-After', String(error.retryAfterSeconds))
}
