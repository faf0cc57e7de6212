import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { KeyScope } from '../../../schemas/actor.ts'
import type { Receipt } from '../../../schemas/catalog.ts'
import { type KeyId, MAX_ACTIVE_KEYS, type Moded } from '../../../schemas/primitives.ts'
import { DAY_MS, dayOf } from '../days.ts'
import { accept } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import type { CallerMode, CreateApiKey, RevokeApiKey, UseApiKey } from './commands.ts'
import type { AccountState, ActiveKey } from './state.ts'

export const createKey = (
  { askedWith, key, livemode }: Omit<CreateApiKey, 'type'> & Moded,
  state: AccountState,
): Decided<AccountEvent> => {
  if (isRevoked(askedWith, state)) return refuse('key_revoked')
  if (state.activeKeys.has(key.keyId)) return refuse('key_exists')
  if (!mayManage({ keyId: askedWith, livemode }, key, state)) return refuse('live_key_not_grantable')
  if (key.livemode === false && key.budget) return refuse('test_key_budget')
  if (state.activeKeys.size >= MAX_ACTIVE_KEYS) return refuse('too_many_keys', { limit: MAX_ACTIVE_KEYS })
  return accept([{ type: 'ApiKeyCreated', data: { ...key, ...expiryWithin(askedWith, key, state) } }])
}

export const revokeKey = (
  { askedWith, keyId, livemode }: Omit<RevokeApiKey, 'type'> & Moded,
  state: AccountState,
): Decided<AccountEvent> => {
  if (isRevoked(askedWith, state)) return refuse('key_revoked')
  const key = state.activeKeys.get(keyId)
  if (!key || !mayManage({ keyId: askedWith, livemode }, key, state)) return refuse('key_not_found')
  return accept([{ type: 'ApiKeyRevoked', data: { keyId, hash: key.hash } }])
}

/** A key that expires creates only keys that expire with it, or a leaked one would outlive its time. */
const expiryWithin = (
  askedWith: KeyId | undefined,
  { expiresAt }: { expiresAt?: string },
  { activeKeys }: AccountState,
) => {
  const latest = askedWith && activeKeys.get(askedWith)?.expiresAt
  return latest !== undefined && (expiresAt === undefined || expiresAt > latest) ? { expiresAt: latest } : {}
}

/** Whether a caller's key was revoked since the request began. A key that is gone has no mode that could be checked. */
const isRevoked = (keyId: KeyId | undefined, { activeKeys }: AccountState): boolean =>
  keyId !== undefined && !activeKeys.has(keyId)

/** Keys belong to the account, so live callers manage those of both modes, and others test keys alone. */
const mayManage = (caller: CallerMode, key: Moded, state: AccountState): boolean =>
  key.livemode === false || modeOf(caller, state).livemode !== false

/** The mode that a caller works in. The key's own record decides, whatever the caller takes it for. */
export const modeOf = ({ keyId, livemode }: CallerMode, { activeKeys }: AccountState): { livemode?: false } =>
  (keyId ? activeKeys.get(keyId)?.livemode : livemode) === false ? { livemode: false } : {}

/** Whether a caller reaches something of a mode. Callers without a key that are not in test mode reach both. */
export const isWithinMode = (caller: CallerMode, { livemode }: Moded, state: AccountState): boolean => {
  const mode = modeOf(caller, state).livemode
  return mode === livemode || (caller.keyId === undefined && mode !== false)
}

/** Records the first use of a key on each day. */
export const useKey = (
  { keyId }: Omit<UseApiKey, 'type'>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const key = state.activeKeys.get(keyId)
  if (!key) return refuse('key_revoked')
  return accept(isUseKnown(key, atMs) ? [] : [{ type: 'ApiKeyUsed', data: { keyId, hash: key.hash } }])
}

/** Whether a use on this day is recorded. A day beyond tomorrow is void: a clock was ahead, and set back since. */
export const isUseKnown = ({ usedOn = '' }: ActiveKey, atMs: number): boolean =>
  usedOn >= dayOf(atMs) && usedOn <= dayOf(atMs + DAY_MS)

/**
 * Why a key may not spend credits, cancel runs, or store or delete files; undefined if it may, or if the caller uses no
 * key. The key may have been revoked since the request began, and may have expired if the time is given.
 */
export const writeRefusal = (
  keyId: KeyId | undefined,
  state: AccountState,
  atMs?: number,
): { refuse: Refusal } | undefined => {
  if (keyId === undefined) return undefined
  const key = state.activeKeys.get(keyId)
  if (!key) return refuse('key_revoked')
  if (atMs !== undefined && isExpired(key, atMs)) return refuse('key_expired', { expiresAt: key.expiresAt as string })
  const scope = scopeOf(key)
  return scope === 'full' ? undefined : refuse('forbidden', { scope })
}

/** Whether a key is refused at a time because it has expired. */
export const isExpired = ({ expiresAt }: Pick<ActiveKey, 'expiresAt'>, atMs: number): boolean =>
  expiresAt !== undefined && atMs >= Date.parse(expiresAt)

/** Why a key may not run an endpoint; undefined if it may. */
export const modelRefusal = (
  keyId: KeyId | undefined,
  { model, endpoint }: Pick<Receipt, 'model' | 'endpoint'>,
  { activeKeys }: AccountState,
): { refuse: Refusal } | undefined => {
  const models = keyId && activeKeys.get(keyId)?.models
  return !models || models.includes(model) || models.includes(endpoint)
    ? undefined
    : refuse('model_not_allowed', { endpoint, models })
}

/** Keys from before scopes existed may do everything that a key could do then. */
export const scopeOf = ({ scope = 'full' }: { scope?: KeyScope }): KeyScope => scope
