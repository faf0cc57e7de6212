import Router from '@koa/router'
import type { Next } from 'koa'
import { MorePage } from '../../../console/more-page.tsx'
import { ApiError } from '../../../transports/api-error.ts'
import { redirect, showPage } from '../../answers/page-answers.ts'
import { networkOf } from '../../connections/connections.ts'
import { type Context, isRead, type RequestState } from '../../context.ts'
import { freshOwnerOnly } from '../../middleware/fresh-codes.ts'
import { anyone, ownerOnly, pages } from '../../middleware/pages.ts'
import { PageStates } from '../../sessions/page-states.ts'
import { PageAssets } from './assets.ts'
import { confirmPages } from './confirm.ts'
import { creditPages } from './credits.ts'
import type { ConsoleDependencies, PageDependencies } from './dependencies.ts'
import { docsPages } from './docs.ts'
import { openDocs } from './docs-index.ts'
import { frontPages } from './front.ts'
import { identityPages } from './identities.ts'
import { keyPages } from './keys.ts'
import { modePages } from './mode.ts'
import { operatorAccountPages } from './operator/accounts.ts'
import { operatorCatalogPages } from './operator/catalog.ts'
import { freshOperatorOnly, operatorOnly } from './operator/for-operator.ts'
import { operatorOverviewPages } from './operator/overview.ts'
import { playgroundPages } from './playground.ts'
import { runPages } from './runs.ts'
import { searchPages } from './search.ts'
import { settingsPages } from './settings.ts'
import { signInPages } from './sign-in.ts'
import { telegramRoutes } from './telegram.ts'
import { topUpPages } from './top-up.ts'
import { webhookPages } from './webhooks.ts'

/** The page after a sign-in. */
const HOME = '/console/playground'

/**
 * The pages for people in a browser, and the page for those at an address that no route has. The description of the API
 * leaves them out.
 */
export const consolePages = (dependencies: ConsoleDependencies) => {
  const { sessions, clientAddress, brand } = dependencies
  const router = new Router<RequestState>({ sensitive: true, strict: true })
  const assets = new PageAssets(brand)
  const pageStates = new PageStates({ ...dependencies, assetUrl: assets.urlOf })
  const forOwner = ownerOnly(sessions, pageStates)
  const forOperator = operatorOnly({ ...dependencies, forOwner })
  const shared: PageDependencies = {
    ...dependencies,
    forOwner,
    forFreshOwner: freshOwnerOnly(forOwner, dependencies.services.sessions),
    forOperator,
    forFreshOperator: freshOperatorOnly(forOperator, dependencies.services.sessions),
    forAnyone: anyone(sessions, pageStates),
    pageStates,
    docs: openDocs(dependencies),
    clientIn: ctx => ({
      ...{ network: networkOf(clientAddress(ctx.req)), browser: sessions.browserOf(ctx) },
      userAgent: ctx.get('User-Agent'),
    }),
  }

  const asPages = pages({ ...dependencies, pageStates })
  router.use(asPages)
  assets.serve(router)
  router.get(
    '/console',
    shared.forOwner(ctx => redirect(ctx, HOME)),
  )
  router.get(
    '/console/more',
    shared.forOwner(ctx => showPage(ctx, MorePage())),
  )
  frontPages(router, shared)
  docsPages(router, shared)
  signInPages(router, shared)
  playgroundPages(router, shared)
  keyPages(router, shared)
  modePages(router, shared)
  runPages(router, shared)
  creditPages(router, shared)
  topUpPages(router, shared)
  settingsPages(router, shared)
  identityPages(router, shared)
  confirmPages(router, shared)
  webhookPages(router, shared)
  operatorOverviewPages(router, shared)
  operatorAccountPages(router, shared)
  operatorCatalogPages(router, shared)
  searchPages(router, shared)
  if (shared.hasTelegram) telegramRoutes(router, shared)

  // People get a page for a wrong address too, also where only forms are sent.
  router.get('/console/{*path}', noPage)

  /** Clients of the API, which do not name HTML, get JSON. */
  const wrongAddress = async (ctx: Context, next: Next) => {
    const isOfPerson = isRead(ctx) && ctx.get('Accept').includes('text/html') && !ctx.path.startsWith('/v1/')
    const isRoute = ctx['matched'].some(({ methods }: { methods: string[] }) => methods.length > 0)
    await (isOfPerson && !isRoute ? asPages(ctx, noPage) : next())
  }
  return { router, wrongAddress }
}

const noPage = () => {
  throw new ApiError('not_found', 'There is no such page.')
}
