import { Map as ImmutableMap, is } from 'immutable'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import type { PastEvent } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import { isByOwner } from './debit-facts.ts'
import { decayed } from './decaying.ts'
import type { AccountState, Decaying } from './state.ts'

/**
 * Changes cost their owner nothing, and the log keeps each for ever. An account may write this many bytes of them at
 * once, and as many again in each hour: about a thousand keys.
 */
export const MAX_CHANGE_BYTES = 1_000_000
const BYTE_MS = (60 * 60 * 1000) / MAX_CHANGE_BYTES

/** The bytes of an event beside its data. */
const ENVELOPE_BYTES = 400

const changes = new Set<AccountEvent['type']>([
  ...(['NoticesSet', 'ApiKeyCreated', 'ApiKeyRevoked'] as const),
  ...(['WebhookSecretRotated', 'WebhookTestRequested', 'WebhookRedeliveryRequested'] as const),
])

/** Refuses what the owner changes beyond the budget. A key can be revoked at any time. */
export const withinBudget = (
  decided: Decided<AccountEvent>,
  { atMs }: { atMs: number },
  state: AccountState,
): Decided<AccountEvent> => {
  if ('refuse' in decided) return decided
  const counts = decided.accept.some(({ type }) => changes.has(type) && type !== 'ApiKeyRevoked')
  const excess = counts ? bytesAt(state, atMs).count - MAX_CHANGE_BYTES : 0
  return excess > 0 ? refuse('too_many_changes', { retryAfterMs: Math.ceil(excess * BYTE_MS) }) : decided
}

/** The state after an event, if that is a change by the owner. */
export const countChange = (state: AccountState, event: PastEvent<AccountEvent>): AccountState => {
  if (!changes.has(event.type) || !isByOwner(event)) return state
  const { count, atMs } = bytesAt(state, Date.parse(clockOf(event)))
  const bytes = Buffer.byteLength(JSON.stringify(event.data)) + ENVELOPE_BYTES
  return { ...state, changes: { count: count + bytes, atMs } }
}

/** Whether settings, none of which has parts, are the same: to set them again is no change. */
export const areSame = (one: object, other: object): boolean => is(ImmutableMap(one), ImmutableMap(other))

const bytesAt = ({ changes }: AccountState, nowMs: number): Decaying => decayed(changes, nowMs, BYTE_MS)
