import Router from '@koa/router'
import { CodePage } from '../../../console/code-page.tsx'
import { STYLE_PATH } from '../../../console/layout.tsx'
import { type RegistrationNote, SignInPage } from '../../../console/sign-in-page.tsx'
import { style } from '../../../console/style.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { Presenter } from '../../../services/presenter.ts'
import type { Services } from '../../../services/services.ts'
import { type Client, CODE_MS } from '../../../services/sign-in/one-time-codes.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { redirect, showError, showPage, showRefusal } from '../../answers/page-answers.ts'
import { StaticBody } from '../../answers/static-body.ts'
import type { ClientAddress } from '../../connections/client-address.ts'
import { networkOf } from '../../connections/connections.ts'
import { anonymousCaller, type Context, type RequestState } from '../../context.ts'
import { formField, pages } from '../../middleware/pages.ts'
import type { BrowserSessions } from '../../sessions/browser-sessions.ts'
import { accountPages, homeAfter } from './account.ts'
import { frontPages } from './front.ts'
import { identityPages } from './identities.ts'
import { noCodeRequested, PendingCode, type PendingCodes } from './pending-code.ts'
import { telegramRoutes } from './telegram.ts'

export interface ConsoleDependencies {
  services: Services
  present: Presenter
  sessions: BrowserSessions
  publicUrl: () => string
  /** Whether anyone may read the catalog. */
  isPublic: boolean
  registration: RegistrationNote
  /** The folder that mail is written to, if it goes no further. */
  mailFolder: string | undefined
  /** Whether people may sign in with Telegram. */
  hasTelegram: boolean
  clientAddress: ClientAddress
  logger: Logger
}

const SIGN_IN = '/console/sign-in'
const ENTER_CODE = '/console/sign-in/code'

/** The query of the page for the code while only people with an account get one. */
const BUSY = 'busy'

const styleSheet = new StaticBody('text/css', style)

/** The pages for the owners of accounts. They are for people, so the description of the API leaves them out. */
export const consoleRouter = (dependencies: ConsoleDependencies) => {
  const { services, sessions, registration, mailFolder, hasTelegram, clientAddress, logger } = dependencies
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  const pending = new PendingCode(sessions.cookies, 'sign-in')
  const clientIn = (ctx: Context): Client => ({
    network: networkOf(clientAddress(ctx.req)),
    browser: sessions.browserOf(ctx),
  })
  const codePage = (
    { email, earlier }: PendingCodes,
    { fault, isBusy = false }: { fault?: string; isBusy?: boolean } = {},
  ) =>
    CodePage({
      ...{ email, hasEarlier: earlier !== undefined, fault, isBusy, folder: mailFolder, minutes: CODE_MS / 60_000 },
      ...{ action: ENTER_CODE, back: SIGN_IN, account: 'Sign in', button: 'Sign in' },
    })

  router.use(pages(logger, sessions))

  router.get(STYLE_PATH, ctx => {
    ctx.set('Cache-Control', 'no-cache')
    return styleSheet.answer(ctx)
  })

  router.get(SIGN_IN, async ctx => {
    if (await sessions.ownerOf(ctx)) return redirect(ctx, '/console')
    showPage(ctx, SignInPage({ registration, hasTelegram }))
  })

  router.post(SIGN_IN, async ctx => {
    sessions.refuseOtherSites(ctx)
    const email = await formField(ctx, 'email')
    const requested = await services.signIn.requestCode(anonymousCaller(ctx), { email, ...clientIn(ctx) })
    if ('refuse' in requested)
      return showRefusal(ctx, requested.refuse, fault => SignInPage({ email, fault, registration, hasTelegram }))
    const { codeId, isBusy } = requested.value
    pending.write(ctx, { email, codeId })
    redirect(ctx, isBusy ? `${ENTER_CODE}?${BUSY}` : ENTER_CODE)
  })

  router.get(ENTER_CODE, ctx => {
    const code = pending.read(ctx)
    if (code) showPage(ctx, codePage(code, { isBusy: ctx.querystring === BUSY }))
    else redirect(ctx, SIGN_IN)
  })

  router.post(ENTER_CODE, async ctx => {
    sessions.refuseOtherSites(ctx)
    const code = await formField(ctx, 'code')
    const requested = pending.read(ctx)
    if (!requested) return showError(ctx, noCodeRequested(), fault => SignInPage({ fault, registration, hasTelegram }))
    const earlierToken = sessions.tokenOf(ctx)
    const entry = { ...requested, code, ...clientIn(ctx), earlierToken }
    const entered = await services.signIn.enterCode(anonymousCaller(ctx), entry)
    if ('refuse' in entered) return showRefusal(ctx, entered.refuse, fault => codePage(requested, { fault }))
    pending.remove(ctx)
    sessions.begin(ctx, entered.value)
    redirect(ctx, homeAfter(entered.value))
  })

  const signOut = (close: 'close' | 'closeAll') => async (ctx: Context) => {
    const owner = await sessions.ownerToSignOut(ctx)
    // A refusal means that the session has ended already.
    if (owner) await services.sessions[close](owner)
    sessions.end(ctx)
    redirect(ctx, SIGN_IN)
  }
  router.post('/console/sign-out', signOut('close'))
  router.post('/console/sign-out-everywhere', signOut('closeAll'))

  frontPages(router, dependencies)
  accountPages(router, dependencies)
  identityPages(router, { services, sessions, mailFolder, hasTelegram, clientIn })
  if (hasTelegram) telegramRoutes(router, { services, sessions, clientIn })

  // People get a page for a wrong address too, also where only forms are sent.
  router.get('/console/{*path}', () => {
    throw new ApiError('not_found', 'There is no such page.')
  })
  return router
}
