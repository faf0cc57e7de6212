import type Router from '@koa/router'
import { WELCOME_WITHHELD } from '../../../../schemas/registration-events.ts'
import { SettingsPage } from '../../../console/settings/settings-page.tsx'
import type { SignedIn } from '../../../services/sign-in/sign-in.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { showPage } from '../../answers/page-answers.ts'
import type { RequestState } from '../../context.ts'
import type { PageDependencies } from './dependencies.ts'

export const SETTINGS = '/console/settings'

/** The query parameter with the reason that a new account has no welcome credits. */
const WITHHELD = 'no-credits'

/** The page after a sign-in. */
export const homeAfter = ({ withheld }: Pick<SignedIn, 'withheld'>): string =>
  withheld ? `${SETTINGS}?${WITHHELD}=${withheld}` : '/console'

/** The settings of an account, for its owner. */
export const settingsPages = (router: Router<RequestState>, { services, forOwner }: PageDependencies) => {
  router.get(
    SETTINGS,
    forOwner(async (ctx, owner) => {
      const withheld = WELCOME_WITHHELD.find(each => each === ctx.query[WITHHELD])
      const identities = unwrap(await services.identities.list(owner))
      showPage(ctx, SettingsPage({ accountId: owner.accountId, identities, withheld }))
    }),
  )
}
