import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import { CacheControl } from '../../../schemas/api/headers.ts'
import * as api from '../../../schemas/api/key.ts'
import type { NewKey } from '../../services/accounts/api-keys.ts'
import { keyItem, ownKeyItem } from '../../services/accounts/key-item.ts'
import { limitOf, showPage } from '../../transports/list-page.ts'
import { microsOf, timeOf } from '../../transports/moment.ts'
import { unwrap } from '../../transports/refusals.ts'
import { waitingClient } from '../connections/disconnect.ts'
import { route } from '../route.ts'

const listKeys = route({
  id: 'listKeys',
  method: 'get',
  path: '/v1/keys',
  tag: 'Keys',
  summary: 'List API keys, newest first',
  description: [
    'Returns a page of the keys of the account, including revoked keys. Needs a key with the scope `keys`.',
    'A test key sees only test keys.',
  ].join(' '),
  auth: 'key or session',
  query: api.KeysQuery,
  responses: {
    200: { description: 'A page of keys.', shape: api.KeyList, examples: { 'Only page': examples.keyList } },
  },
  serve: async (ctx, { keys }, { query }) => {
    const page = unwrap(await keys.page(ctx.state.caller, { ...query, limit: limitOf(query) }, waitingClient(ctx)))
    ctx.body = showPage(page, keyItem) satisfies api.KeyList
  },
})

const createKey = route({
  id: 'createKey',
  method: 'post',
  path: '/v1/keys',
  tag: 'Keys',
  summary: 'Create an API key',
  description: [
    'Creates a key and shows it once. A scope, an expiry, a budget, models and client addresses can limit the key.',
    'These limits never change: to change them, create another key and revoke this one.',
    'Needs a key with the scope `keys`, which cannot create another key with this scope.',
    '`livemode: false` creates a test key: the sandbox does its runs, which cost nothing.',
  ].join(' '),
  auth: 'key or session',
  json: api.NewKey,
  examples: { 'Key with a budget': examples.requests.newKey, 'Test key': examples.requests.newTestKey },
  responses: {
    200: {
      description: 'The key. Only this response shows `api_key`.',
      shape: api.CreatedKey,
      examples: { 'Key with a budget': examples.createdKey, 'Test key': examples.createdTestKey },
      headers: { 'Cache-Control': CacheControl },
    },
  },
  errors: ['rate_limited'],
  serve: async (ctx, { keys }, { json }) => {
    const { caller } = ctx.state
    const { apiKey, ...created } = unwrap(await keys.create(caller, caller.accountId, toNewKey(json)))
    // No cache may keep the key.
    ctx.set('Cache-Control', 'no-store')
    ctx.body = { ...keyItem(created), api_key: apiKey } satisfies api.CreatedKey
  },
})

const revokeKey = route({
  id: 'revokeKey',
  method: 'delete',
  path: '/v1/keys/:id',
  tag: 'Keys',
  summary: 'Revoke an API key',
  description: 'Revokes the key. Within a second, every process of the service refuses the key. Its runs continue.',
  auth: 'key or session',
  params: { id: api.KeyId },
  responses: {
    200: { description: 'The key was revoked.', shape: api.RevokedKey, examples: { Key: examples.revokedKey } },
  },
  errors: ['not_found'],
  serve: async (ctx, { keys }, { params: { id } }) => {
    const { caller } = ctx.state
    unwrap(await keys.revoke(caller, caller.accountId, id))
    ctx.body = { object: 'api_key', id: id as api.RevokedKey['id'], revoked: true } satisfies api.RevokedKey
  },
})

const getOwnKey = route({
  id: 'getOwnKey',
  method: 'get',
  path: '/v1/key',
  tag: 'Keys',
  summary: 'Get the API key of this request',
  description: 'Returns the mode, scope, expiry, remaining budget and limits of the key. Works with any key.',
  auth: 'key',
  responses: { 200: { description: 'The key.', shape: api.OwnKey, examples: { Key: examples.ownKey } } },
  serve: async (ctx, { keys }) => {
    ctx.body = ownKeyItem(unwrap(await keys.own(ctx.state.caller)))
  },
})

export const keyRoutes = [listKeys, createKey, revokeKey, getOwnKey]

/** A key as services create it. Throws ApiError for values that no schema can refuse. */
export const toNewKey = ({ expires_at: expiresAt, budget, livemode, ...key }: api.NewKey): NewKey => ({
  ...key,
  ...(livemode === false && { livemode }),
  ...(expiresAt !== undefined && { expiresAt: timeOf('expires_at', expiresAt, 'body') }),
  ...(budget && { budget: { amountMicros: microsOf('budget/credits', budget.credits), period: budget.period } }),
})
