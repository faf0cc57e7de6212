import type Router from '@koa/router'
import type { ApiKey } from '../../../../schemas/api/key.ts'
import { MAX_PAGE } from '../../../../schemas/primitives.ts'
import { type KeyFaults, type KeyFields, newKeyFields } from '../../../console/keys/key-form.tsx'
import { KeysPage } from '../../../console/keys/keys-page.tsx'
import { RevokeKeyPage } from '../../../console/keys/revoke-key-page.tsx'
import { keyItem } from '../../../services/accounts/key-item.ts'
import { budgetItem } from '../../../services/budgets/budget-item.ts'
import { modeOf, type SessionOwner } from '../../../services/caller.ts'
import { curlRead, curlRun, firstModel, firstRun } from '../../../services/catalog/example-request.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { unwrap } from '../../../transports/refusals.ts'
import { redirect, showError, showPage } from '../../answers/page-answers.ts'
import type { Context, RequestState } from '../../context.ts'
import { formField } from '../../middleware/pages.ts'
import { toNewKey } from '../keys.ts'
import type { PageDependencies } from './dependencies.ts'
import { modelsThatRun, publicFamilies } from './models-that-run.ts'
import { keyFaults, keyFields, keyRequest } from './new-key-form.ts'

const KEYS = '/console/keys'
const REVOKE = '/console/keys/:id/revoke'

const DAY_MS = 24 * 60 * 60 * 1000

/** The API keys of an account, for its owner. */
export const keyPages = (router: Router<RequestState>, dependencies: PageDependencies) => {
  const { services, forOwner, publicUrl, clock } = dependencies
  const { keys, budgets } = services

  /** In test mode, these are the test keys. */
  const activeKeys = async (owner: SessionOwner): Promise<ApiKey[]> =>
    unwrap(await keys.list(owner, owner.accountId))
      .filter(({ revokedAt, livemode }) => revokedAt === undefined && (livemode === false || !isTest(owner)))
      .map(keyItem)
      .reverse()

  const firstBudgets = async (owner: SessionOwner) => {
    const { found, next } = unwrap(await budgets.page(owner, { limit: MAX_PAGE }))
    return { budgets: found.map(budgetItem), hasMoreBudgets: next !== null }
  }

  const revokedName = async (owner: SessionOwner, id: unknown): Promise<string | undefined> =>
    unwrap(await keys.list(owner, owner.accountId)).find(
      ({ keyId, revokedAt }) => keyId === id && revokedAt !== undefined,
    )?.name

  const keyOf = async (ctx: Context, owner: SessionOwner): Promise<ApiKey> => {
    const found = (await activeKeys(owner)).find(({ id }) => id === ctx['params'].id)
    if (!found) throw new ApiError('not_found', 'The account has no such active key.')
    return found
  }

  /** A request that the key may send. */
  const firstRequest = async ({ scope = 'full', models }: Pick<ApiKey, 'scope' | 'models'>, apiKey: string) => {
    const url = publicUrl()
    if (scope === 'keys') return curlRead(`${url}/v1/keys`, apiKey)
    if (scope === 'read') return curlRead(`${url}/v1/balance`, apiKey)
    return curlRun(`${url}/v1/run`, apiKey, firstRun(firstModel(models ?? (await modelsThatRun(dependencies)))))
  }

  const familiesFor = async () => (await publicFamilies(dependencies)).map(({ id, name }) => ({ id, name }))

  /** Whether programs that use the key would stop. The log records the days of use. */
  const isInUse = ({ last_used_at: at }: ApiKey) => at !== undefined && clock.nowMs() - Date.parse(at) < 2 * DAY_MS

  router.get(
    KEYS,
    forOwner(async (ctx, owner) => {
      const [shown, families] = [await activeKeys(owner), await familiesFor()]
      const form = { families, entered: newKeyFields(isTest(owner)), faults: {}, isTest: isTest(owner) }
      const revoked = await revokedName(owner, ctx.query['revoked'])
      showPage(ctx, KeysPage({ keys: shown, ...(await firstBudgets(owner)), revoked, ...form }))
    }),
  )

  router.post(
    KEYS,
    forOwner(async (ctx, owner) => {
      const entered = keyFields(ctx.state.form ?? new URLSearchParams())
      const families = await familiesFor()
      const page = async (fields: KeyFields, faults: KeyFaults) => ({
        ...(await firstBudgets(owner)),
        ...{ keys: await activeKeys(owner), families, entered: fields, faults, isTest: isTest(owner) },
      })
      try {
        const wanted = keyRequest(entered)
        const { apiKey, ...key } = unwrap(await keys.create(owner, owner.accountId, toNewKey(wanted)))
        const created = { name: wanted.name, apiKey, request: await firstRequest(keyItem(key), apiKey) }
        showPage(ctx, KeysPage({ ...(await page(newKeyFields(isTest(owner)), {})), created }))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        const props = await page(entered, keyFaults(error))
        showError(ctx, error, () => KeysPage(props))
      }
    }),
  )

  router.get(
    REVOKE,
    forOwner(async (ctx, owner) => {
      const apiKey = await keyOf(ctx, owner)
      showPage(ctx, RevokeKeyPage({ apiKey, isInUse: isInUse(apiKey) }))
    }),
  )

  router.post(
    REVOKE,
    forOwner(async (ctx, owner) => {
      const apiKey = await keyOf(ctx, owner)
      const { id, name } = apiKey
      if (isInUse(apiKey) && formField(ctx, 'name').trim() !== name) {
        const wrong = new ApiError('invalid_request', 'This is not the name of the key.')
        return showError(ctx, wrong, fault => RevokeKeyPage({ apiKey, isInUse: true, fault }))
      }
      unwrap(await keys.revoke(owner, owner.accountId, id))
      redirect(ctx, `${KEYS}?revoked=${id}`)
    }),
  )
}

const isTest = (owner: SessionOwner): boolean => modeOf(owner).livemode === false
