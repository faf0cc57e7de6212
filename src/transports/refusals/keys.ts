import { isIP } from 'node:net'
import type { KeyScope } from '../../../schemas/actor.ts'
import type { KeyRefusals } from '../../domain/refusal.ts'
import type { RefusalTable } from './refusal-table.ts'

export const keys = {
  forbidden: { api: 'forbidden', message: ({ scope }) => mayOnly(scope, abilities) },
  key_exists: { api: 'invalid_request', message: () => 'The account already has this key.' },
  key_not_found: { api: 'not_found', message: () => 'The account has no such active key.' },
  key_revoked: { api: 'invalid_api_key', message: () => 'This API key was revoked.' },
  key_expired: {
    api: 'invalid_api_key',
    message: ({ expiresAt }) => `This API key has expired: it was valid until ${expiresAt}.`,
  },
  too_many_keys: {
    api: 'rate_limited',
    message: ({ limit }) => `The account already has ${limit} active keys; revoke one first.`,
  },
  live_key_not_grantable: {
    api: 'forbidden',
    message: () => 'A test key can only create test keys. Use a live key, or send livemode: false.',
  },
  live_key_required: {
    api: 'forbidden',
    message: () => 'A test key cannot see or change the settings of the account. Use a live key.',
  },
  test_key_budget: {
    api: 'invalid_request',
    message: () => 'A test key spends nothing, so it takes no budget. Leave the budget out.',
    details: () => ({ errors: [{ path: '/budget', message: 'must be left out of a test key' }] }),
  },
  key_scope_not_grantable: {
    api: 'forbidden',
    message: ({ scope }) =>
      [
        `A key cannot create a key with the scope "${scope}", so that a leaked one cannot outlive its revocation.`,
        'The owner of the account, signed in, or the operator can.',
      ].join(' '),
  },
  key_expiry_past: {
    api: 'invalid_request',
    message: ({ expiresAt }) => `The key would have expired already: ${expiresAt} is not in the future.`,
    details: () => ({ errors: [{ path: '/expires_at', message: 'must be in the future' }] }),
  },
  key_model_unknown: {
    api: 'invalid_request',
    message: ({ model }) => `There is no model ${JSON.stringify(model)}. Use the IDs of families or endpoints.`,
    details: ({ index }) => ({ errors: [{ path: `/models/${index}`, message: 'is not a model' }] }),
  },
  key_address_invalid: {
    api: 'invalid_request',
    message: ({ address }) =>
      `${JSON.stringify(address)} is not an IP address or a CIDR range, such as 203.0.113.7 or 2001:db8::/32.`,
    details: ({ index }) => ({
      errors: [{ path: `/addresses/${index}`, message: 'must be an IP address or a CIDR range' }],
    }),
  },
  address_not_allowed: {
    api: 'forbidden',
    message: ({ address }) => {
      const from = isIP(address) ? address : 'an unknown address'
      return `This API key may not be used from ${from}: it is restricted to other addresses.`
    },
  },
  model_not_allowed: {
    api: 'forbidden',
    message: ({ endpoint, models }) =>
      `This API key may not run ${endpoint}: it is restricted to ${models.join(', ')}.`,
  },
} satisfies RefusalTable<KeyRefusals>

/** Why a caller may not do something: the scope of its key allows less. */
export const mayOnly = (scope: KeyScope | undefined, abilities: Record<KeyScope, string>): string =>
  scope ? `This API key has the scope "${scope}", so it may ${abilities[scope]}.` : 'You may not do this.'

/** The abilities of keys by scope, and the keys or sign-ins that have the other abilities. */
const abilities: Record<KeyScope, string> = {
  full: 'do everything except manage keys. For that, use a key with the scope "keys", or sign in',
  read: [
    'only read: send GET requests, except for secrets and notices, make dry runs, and call read-only tools.',
    'For the rest, use a key with the scope "full", and for keys one with the scope "keys"',
  ].join(' '),
  keys: [
    'only manage keys, with GET and POST /v1/keys and DELETE /v1/keys/{id}.',
    'For the rest, use a key with the scope "full"',
  ].join(' '),
}
