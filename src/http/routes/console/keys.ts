import type Router from '@koa/router'
import { type ApiKey, NewKey } from '../../../../schemas/api/key.ts'
import { KeysPage } from '../../../console/keys/keys-page.tsx'
import { NewKeyPage } from '../../../console/keys/new-key-page.tsx'
import { RevokeKeyPage } from '../../../console/keys/revoke-key-page.tsx'
import { keyItem } from '../../../services/accounts/key-item.ts'
import type { SessionOwner } from '../../../services/caller.ts'
import { curlRead, curlRun, firstModel, firstRun } from '../../../services/catalog/example-request.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { readerOf } from '../../../transports/validate.ts'
import { redirect, showError, showPage, showRefusal } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import type { PageDependencies } from './dependencies.ts'
import { modelsThatRun } from './models-that-run.ts'

const KEYS = '/console/keys'
const REVOKE = '/console/keys/:id/revoke'

const readNewKey = readerOf(NewKey, 'form')

/** The API keys of an account, for its owner. */
export const keyPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, forOwner, publicUrl } = dependencies
  const { keys } = services

  const activeKeys = async (owner: SessionOwner): Promise<ApiKey[]> =>
    unwrap(await keys.list(owner, owner.accountId))
      .filter(({ revokedAt }) => revokedAt === undefined)
      .map(keyItem)
      .reverse()

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
    KEYS,
    forOwner(async (ctx, owner) => showPage(ctx, KeysPage({ keys: await activeKeys(owner) }))),
  )

  router.post(
    KEYS,
    forOwner(async (ctx, owner) => {
      const entered = {
        name: formField(ctx, 'name').trim(),
        scope: formField(ctx, 'scope') || 'full',
        isTest: formField(ctx, 'test') !== '',
      }
      const shown = await activeKeys(owner)
      const page = (fault: string) => KeysPage({ keys: shown, ...entered, fault })
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
      redirect(ctx, KEYS)
    }),
  )
}
