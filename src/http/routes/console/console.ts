import Router from '@koa/router'
import type { Brand } from '../../../console/brand.ts'
import type { RegistrationNote } from '../../../console/sign-in/sign-in-page.tsx'
import type { Clock } from '../../../ports/clock.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { Presenter } from '../../../services/presenter.ts'
import type { Services } from '../../../services/services.ts'
import type { Client } from '../../../services/sign-in/one-time-codes.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { redirect } from '../../answers/page-answers.ts'
import type { ClientAddress } from '../../connections/client-address.ts'
import { networkOf } from '../../connections/connections.ts'
import type { Context, RequestState } from '../../context.ts'
import { type ForOwner, ownerOnly, pages } from '../../middleware/pages.ts'
import type { BrowserSessions } from '../../sessions/browser-sessions.ts'
import { PageStates } from '../../sessions/page-states.ts'
import { PageAssets } from './assets.ts'
import { frontPages } from './front.ts'
import { identityPages } from './identities.ts'
import { keyPages } from './keys.ts'
import { settingsPages } from './settings.ts'
import { signInPages } from './sign-in.ts'
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
  brand: Brand
  /** The origins that files come from and go to, besides the service's own. */
  fileOrigins: readonly string[]
  clientAddress: ClientAddress
  clock: Clock
  logger: Logger
}

/** What the pages of the console share. */
export interface PageDependencies extends ConsoleDependencies {
  forOwner: ForOwner
  clientIn(ctx: Context): Client
}

/** The page after a sign-in. */
const HOME = '/console/playground'

/** The pages for people in a browser. The description of the API leaves them out. */
export const consoleRouter = (dependencies: ConsoleDependencies) => {
  const { sessions, clientAddress, brand } = dependencies
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  const assets = new PageAssets(brand)
  const pageStates = new PageStates({ ...dependencies, assetUrl: assets.urlOf })
  const shared: PageDependencies = {
    ...dependencies,
    forOwner: ownerOnly(sessions, pageStates),
    clientIn: ctx => ({ network: networkOf(clientAddress(ctx.req)), browser: sessions.browserOf(ctx) }),
  }

  router.use(pages({ ...dependencies, pageStates }))
  assets.serve(router)
  router.get(
    '/console',
    shared.forOwner(ctx => redirect(ctx, HOME)),
  )
  frontPages(router, shared)
  signInPages(router, shared)
  keyPages(router, shared)
  settingsPages(router, shared)
  identityPages(router, shared)
  if (shared.hasTelegram) telegramRoutes(router, shared)

  // People get a page for a wrong address too, also where only forms are sent.
  router.get('/console/{*path}', () => {
    throw new ApiError('not_found', 'There is no such page.')
  })
  return router
}
