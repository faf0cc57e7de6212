import { type Refusal, refuse } from '../refusal.ts'
import { isByOwner } from './debit-facts.ts'
import { hourlyWaitMs } from './hourly.ts'
import type { AccountState } from './state.ts'

/**
 * Webhooks that the owner of an account may have sent again in an hour. They cost nothing, and each may lead to ten
 * attempts. The operator's redeliveries do not count.
 */
export const MAX_RESENDS = 100

/** Why the owner may not have a webhook sent again now; undefined if it may. */
export const resendRefusal = (atMs: number, state: AccountState): { refuse: Refusal } | undefined => {
  const retryAfterMs = hourlyWaitMs(state.webhookResends, MAX_RESENDS, atMs)
  return retryAfterMs === undefined ? undefined : refuse('too_many_resends', { limit: MAX_RESENDS, retryAfterMs })
}

/** The state after a webhook was to be sent again. */
export const countResend = (
  state: AccountState,
  event: { metadata: { actor?: object } },
  atMs: number,
): AccountState =>
  isByOwner(event) ? { ...state, webhookResends: [...state.webhookResends, atMs].slice(-MAX_RESENDS) } : state
