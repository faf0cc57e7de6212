import type Router from '@koa/router'
import { type ApiKey, NewKey } from '../../../../schemas/api/key.ts'
import { WELCOME_WITHHELD } from '../../../../schemas/registration-events.ts'
import { HomePage, type HomeProps } from '../../../console/home-page.tsx'
import { NewKeyPage } from '../../../console/new-key-page.tsx'
import { RevokeKeyPage } from '../../../console/revoke-key-page.tsx'
import { fromMicros } from '../../../domain/money.ts'
import { keyItem } from '../../../services/accounts/key-item.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import { curlRead, curlRun, firstModel, firstRun } from '../../../services/catalog/example-request.ts'
import type { Services } from '../../../services/services.ts'
import type { SignedIn } from '../../../services/sign-in/sign-in.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { readerOf } from '../../../transports/validate.ts'
import { redirect, showError, showPage, showRefusal } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import { formFields, ownerOnly } from '../../middleware/pages.ts'
import type { BrowserSessions } from '../../sessions/browser-sessions.ts'
import { type Models, modelsThatRun } from './models-that-run.ts'

interface Dependencies extends Models {
  services: Services
  sessions: BrowserSessions
  publicUrl: () => string
}

export const ACCOUNT = '/console'
const KEYS = '/console/keys'
const REVOKE = '/console/keys/:id/revoke'

/** The query parameter with the reason that a new account has no welcome credits. */
const WITHHELD = 'no-credits'

/** The page after a sign-in. */
export const homeAfter = ({ withheld }: Pick<SignedIn, 'withheld'>): string =>
  withheld ? `${ACCOUNT}?${WITHHELD}=${withheld}` : ACCOUNT

const readNewKey = readerOf(NewKey, 'form')

/** The account and its API keys, for its owner. */
export const accountPages = (router: Router<RequestState>, dependencies: Dependencies) => {
  const { services, sessions, publicUrl } = dependencies
  const { accounts, identities, keys } = services
  const forOwner = ownerOnly(sessions)

  const activeKeys = async (owner: SessionOwner): Promise<ApiKey[]> => {
    const all = unwrap(await keys.list(owner, owner.accountId))
    return all
      .filter(({ revokedAt }) => revokedAt === undefined)
      .map(keyItem)
      .reverse()
  }

  const homeOf = async (owner: SessionOwner): Promise<HomeProps> => ({
    accountId: owner.accountId,
    identities: unwrap(await identities.list(owner)),
    balanceCredits: fromMicros(unwrap(await accounts.balance(owner)).balanceMicros),
    keys: await activeKeys(owner),
  })

  const keyOf = async (ctx: Context, owner: SessionOwner): Promise<ApiKey> => {
    const found = (await activeKeys(owner)).find(({ id }) => id === ctx['params'].id)
    if (!found) throw new ApiError('not_found', 'The account has no such active key.')
    return found
  }

  /** A request that the key may send. */
  const firstRequest = async (scope: ApiKey['scope'], apiKey: string) => {
    const url = publicUrl()
    if (scope === 'keys') return curlRead(`${url}/v1/keys`, apiKey)
    if (scope === 'read') return curlRead(`${url}/v1/balance`, apiKey)
    return curlRun(`${url}/v1/run`, apiKey, firstRun(firstModel(await modelsThatRun(dependencies))))
  }

  router.get(
    ACCOUNT,
    forOwner(async (ctx, owner) => {
      const withheld = WELCOME_WITHHELD.find(each => each === ctx.query[WITHHELD])
      showPage(ctx, HomePage({ ...(await homeOf(owner)), withheld }))
    }),
  )

  // A browser sends this request when a person reloads the response to the form.
  router.get(KEYS, ctx => redirect(ctx, ACCOUNT))

  router.post(
    KEYS,
    forOwner(async (ctx, owner) => {
      const field = await formFields(ctx)
      const entered = { name: field('name').trim(), scope: field('scope') || 'full', isTest: field('test') !== '' }
      const home = await homeOf(owner)
      const page = (fault: string) => HomePage({ ...home, ...entered, fault })
      const { isTest, ...key } = entered
      let wanted: NewKey
      try {
        wanted = readNewKey({ ...key, ...(isTest && { livemode: false }) })
      } catch (error) {
        if (error instanceof ApiError) return showError(ctx, error, page)
        throw error
      }
      const { name, scope = 'full' } = wanted
      const created = await keys.create(owner, owner.accountId, { name, scope, ...(isTest && { livemode: false }) })
      if ('refuse' in created) return showRefusal(ctx, created.refuse, page)
      const { apiKey } = created.value
      showPage(ctx, NewKeyPage({ name, apiKey, request: await firstRequest(scope, apiKey) }))
    }),
  )

  router.get(
    REVOKE,
    forOwner(async (ctx, owner) => showPage(ctx, RevokeKeyPage({ apiKey: await keyOf(ctx, owner) }))),
  )

  router.post(
    REVOKE,
    forOwner(async (ctx, owner) => {
      const { id } = await keyOf(ctx, owner)
      unwrap(await keys.revoke(owner, owner.accountId, id))
      redirect(ctx, ACCOUNT)
    }),
  )
}
