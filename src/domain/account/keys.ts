import type { AccountEvent } from '../../../schemas/account-events.ts'
import { type KeyId, MAX_ACTIVE_KEYS } from '../../../schemas/primitives.ts'
import { accept, type Decision, refuse } from '../decider.ts'
import type { AccountState } from './state.ts'

export const create = (
  { keyId, name, hash, lastFour }: { keyId: KeyId; name: string; hash: string; lastFour: string },
  state: AccountState,
): Decision<AccountEvent> => {
  if (state.activeKeys.has(keyId)) return refuse('key_exists')
  if (state.activeKeys.size >= MAX_ACTIVE_KEYS) return refuse('too_many_keys', { limit: MAX_ACTIVE_KEYS })
  return accept([{ type: 'ApiKeyCreated', data: { keyId, name, hash, lastFour } }])
}

export const revoke = ({ keyId }: { keyId: KeyId }, state: AccountState): Decision<AccountEvent> => {
  const key = state.activeKeys.get(keyId)
  if (!key) return refuse('key_not_found')
  return accept([{ type: 'ApiKeyRevoked', data: { keyId, hash: key.hash } }])
}
