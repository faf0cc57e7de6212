import type { AccountEvent, AccountLimits } from '../../../schemas/account-events.ts'
import type { KeyId } from '../../../schemas/primitives.ts'
import { accept } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import { areSame } from './free-events.ts'
import type { AccountState } from './state.ts'

/** A limit for each key of an account, and one for all of its requests. Infinity means none. */
export interface LimitPair {
  perKey: number
  perAccount: number
}

/** The limits of accounts without exceptions. */
export type DefaultLimits = Record<keyof AccountLimits, LimitPair>

export const NO_LIMIT: LimitPair = { perKey: Number.POSITIVE_INFINITY, perAccount: Number.POSITIVE_INFINITY }

export const setLimits = (
  { limits }: { limits: AccountLimits | 'default' },
  state: AccountState,
): Decided<AccountEvent> => {
  const data = limits === 'default' ? {} : { ...state.limits, ...limits }
  return accept(areSame(data, state.limits) ? [] : [{ type: 'LimitsSet', data }])
}

/** A limit of an account. An exception replaces the limits of its keys too, which share it. */
export const limitOf = (name: keyof AccountLimits, { limits }: AccountState, byDefault: LimitPair): LimitPair => {
  const perAccount = limits[name]
  return perAccount === undefined ? byDefault : { ...NO_LIMIT, perAccount }
}

/** Why an account, or the key that asks, may have no more runs in flight; undefined if it may. */
export const inFlightRefusal = (
  { keyId, runsInFlight = NO_LIMIT }: { keyId?: KeyId; runsInFlight?: LimitPair },
  state: AccountState,
): { refuse: Refusal } | undefined => {
  const { perKey, perAccount } = limitOf('runsInFlight', state, runsInFlight)
  const retry = { retryAfterMs: RETRY_MS }
  if (keyId && (state.openRunsOf.get(keyId) ?? 0) >= perKey)
    return refuse('too_many_runs_in_flight', { of: 'key', limit: perKey, ...retry })
  if (state.openRuns.size >= perAccount)
    return refuse('too_many_runs_in_flight', { of: 'account', limit: perAccount, ...retry })
  return undefined
}

/** As often as clients poll their runs. */
const RETRY_MS = 10_000
