import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { KeyScope } from '../../../schemas/actor.ts'
import { type KeyId, MAX_ACTIVE_KEYS } from '../../../schemas/primitives.ts'
import { accept } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import type { NewKey } from './commands.ts'
import type { AccountState } from './state.ts'

export const create = ({ keyId, name, hash, lastFour, scope }: NewKey, state: AccountState): Decided<AccountEvent> => {
  if (state.activeKeys.has(keyId)) return refuse('key_exists')
  if (state.activeKeys.size >= MAX_ACTIVE_KEYS) return refuse('too_many_keys', { limit: MAX_ACTIVE_KEYS })
  return accept([{ type: 'ApiKeyCreated', data: { keyId, name, hash, lastFour, scope } }])
}

export const revoke = ({ keyId }: { keyId: KeyId }, state: AccountState): Decided<AccountEvent> => {
  const key = state.activeKeys.get(keyId)
  if (!key) return refuse('key_not_found')
  return accept([{ type: 'ApiKeyRevoked', data: { keyId, hash: key.hash } }])
}

/**
 * Why a key may not spend credits, cancel runs, or store or delete files; undefined if it may, or if the caller uses no
 * key. The key may have been revoked since the request began.
 */
export const writeRefusal = (keyId: KeyId | undefined, state: AccountState): { refuse: Refusal } | undefined => {
  if (keyId === undefined) return undefined
  const key = state.activeKeys.get(keyId)
  if (!key) return refuse('key_revoked')
  const scope = scopeOf(key)
  return scope === 'full' ? undefined : refuse('forbidden', { scope })
}

/** Keys from before scopes existed may do everything that a key could do then. */
export const scopeOf = ({ scope = 'full' }: { scope?: KeyScope }): KeyScope => scope
