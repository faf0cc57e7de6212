import { Map as ImmutableMap, is } from 'immutable'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import type { PastEvent } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import { isByOwner } from './debit-facts.ts'
import { type AccountState, type Decaying, decayed, type FreeEvents } from './state.ts'

/**
 * Some events cost their owner nothing, and the log keeps each for ever. An account may write `limitBytes` of a kind at
 * once, and as many again in each hour. An event counts with its data and `otherBytes`: the rest of it, and the events
 * that follow it.
 */
export const FREE_EVENTS: Record<FreeEvents, { limitBytes: number; otherBytes: number }> = {
  /** About a thousand keys. */
  changes: { limitBytes: 1_000_000, otherBytes: 400 },
  /** A thousand test runs with inputs of 3 KB: a suite of tests sends less. */
  testRuns: { limitBytes: 6_000_000, otherBytes: 2_000 },
  /** Five thousand uploads: more than one a second, each with its deletion. */
  uploads: { limitBytes: 12_000_000, otherBytes: 2_000 },
  /** Sixty runs with files in their inputs, which is how many may fail at once; see `run-limits.ts`. */
  failedRuns: { limitBytes: 12_000_000, otherBytes: 2_500 },
}

const kindOf = (event: AccountEvent): FreeEvents | undefined => {
  switch (event.type) {
    case 'NoticesSet':
    case 'ApiKeyCreated':
    case 'ApiKeyRevoked':
    case 'WebhookSecretRotated':
    case 'WebhookTestRequested':
    case 'WebhookRedeliveryRequested':
      return 'changes'
    case 'RunQueued':
      return event.data.livemode === false ? 'testRuns' : undefined
    case 'UploadGranted':
      return 'uploads'
    default:
      return undefined
  }
}

/** Refuses free events beyond their limit. */
export const withinLimits = (
  decided: Decided<AccountEvent>,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  if ('refuse' in decided) return decided
  const [of] = decided.accept.flatMap(event => kindOf(event) ?? [])
  return (of && freeRefusal(of, atMs, state)) ?? decided
}

/** Why an account may cause no more events of a kind now; undefined if it may. */
export const freeRefusal = (of: FreeEvents, atMs: number, state: AccountState): { refuse: Refusal } | undefined => {
  const excess = bytesAt(of, state, atMs).count - FREE_EVENTS[of].limitBytes
  return excess > 0 ? refuse('too_many_free_events', { of, retryAfterMs: Math.ceil(excess * byteMs(of)) }) : undefined
}

/** The state after an event, which is counted if it was free for the owner. */
export const countFree = (state: AccountState, event: PastEvent<AccountEvent>): AccountState => {
  const of = isByOwner(event) ? kindOf(event) : undefined
  return of ? addFree(of, Buffer.byteLength(JSON.stringify(event.data)), Date.parse(clockOf(event)), state) : state
}

/** The state after an event with data of so many bytes. */
export const addFree = (of: FreeEvents, bytes: number, nowMs: number, state: AccountState): AccountState => {
  const { count, atMs } = bytesAt(of, state, nowMs)
  return withBytes(of, { count: count + bytes + FREE_EVENTS[of].otherBytes, atMs }, state)
}

/** The state after something of this size was paid for, which offsets as much that was free. */
export const offsetFree = (of: FreeEvents, bytes: number, state: AccountState): AccountState => {
  const { count, atMs } = state.freeBytes[of]
  if (count === 0) return state
  return withBytes(of, { count: Math.max(0, count - bytes - FREE_EVENTS[of].otherBytes), atMs }, state)
}

/** Whether settings, none of which has parts, are the same: to set them again is no change. */
export const areSame = (one: object, other: object): boolean => is(ImmutableMap(one), ImmutableMap(other))

const withBytes = (of: FreeEvents, counted: Decaying, state: AccountState): AccountState => ({
  ...state,
  freeBytes: { ...state.freeBytes, [of]: counted },
})

const bytesAt = (of: FreeEvents, { freeBytes }: AccountState, nowMs: number): Decaying =>
  decayed(freeBytes[of], nowMs, byteMs(of))

/** How long a byte counts. */
const byteMs = (of: FreeEvents) => (60 * 60 * 1000) / FREE_EVENTS[of].limitBytes
