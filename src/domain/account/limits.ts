import { Map as ImmutableMap, is } from 'immutable'
import {
  type AccountEvent,
  type AccountLimits,
  isAcceptance,
  type RunErrorCode,
  type RunQueued,
} from '../../../schemas/account-events.ts'
import { type KeyId, MAX_OPEN_RUN_BYTES, MAX_OPEN_RUNS, type Moded, SANDBOX } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { DAY_MS, dayOf } from '../days.ts'
import { accept, type PastEvent } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import type { QueueRun, SetLimits } from './commands.ts'
import {
  type AccountState,
  CLOCK_TOLERANCE_MS,
  type Decaying,
  decayed,
  type FreeEvents,
  isByOwner,
  type LimitPair,
} from './state.ts'

/** The limits of accounts without exceptions. */
export type DefaultLimits = Record<keyof AccountLimits, LimitPair>

export const NO_LIMIT: LimitPair = { perKey: Number.POSITIVE_INFINITY, perAccount: Number.POSITIVE_INFINITY }

export const setLimits = ({ limits }: Pick<SetLimits, 'limits'>, state: AccountState): Decided<AccountEvent> => {
  const changed = limits === 'default' ? [] : Object.entries({ ...state.limits, ...limits })
  const data: AccountLimits = Object.fromEntries(changed.filter(([, limit]) => limit !== 'default'))
  return accept(areSame(data, state.limits) ? [] : [{ type: 'LimitsSet', data }])
}

/** A limit of an account. An exception replaces the limits of its keys too, which share it. */
export const limitOf = (name: keyof AccountLimits, { limits }: AccountState, byDefault: LimitPair): LimitPair => {
  const perAccount = limits[name]
  return perAccount === undefined ? byDefault : { ...NO_LIMIT, perAccount }
}

/** Why an account, or the key that asks, may have no more runs in flight; undefined if it may. */
const inFlightRefusal = (
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

/** Failures that the account causes. Those of a provider or of this service never count. */
const OWN_FAULTS: RunErrorCode[] = ['invalid_input', 'content_rejected', 'cancelled']

/**
 * Failed runs are refunded, so they cost their sender nothing. An account may cause this many at once, and another one
 * every FAILURE_MS. A completed run, which is paid for, offsets one failure.
 */
export const MAX_OWN_FAILURES = 60
export const FAILURE_MS = 5_000

/** Runs that were accepted together may all fail. No more than this many count, so that no account waits for long. */
const MAX_COUNTED = 2 * MAX_OWN_FAILURES - CLOCK_TOLERANCE_MS / FAILURE_MS

/**
 * Once the failed runs of an hour were too large together, runs may have this size at most. Accounts need not wait:
 * they can upload files, whose URLs are short.
 */
export const SMALL_RUN_BYTES = 16 * 1024

/** The state after a run of this size has failed. */
export const countFailure = (state: AccountState, code: RunErrorCode, bytes: number, nowMs: number): AccountState => {
  if (!OWN_FAULTS.includes(code)) return state
  const { count, atMs } = failuresAt(state, nowMs)
  const ownFailures = { count: Math.min(count + 1, MAX_COUNTED), atMs }
  return addFree('failedRuns', bytes, nowMs, { ...state, ownFailures })
}

/** The state after a run of this size has completed. */
export const offsetFailure = (state: AccountState, bytes: number): AccountState => {
  const { count, atMs } = state.ownFailures
  const offset = count === 0 ? state : { ...state, ownFailures: { count: Math.max(0, count - 1), atMs } }
  return offsetFree('failedRuns', bytes, offset)
}

/** Why an account cannot run anything now; undefined if it can. */
export const limitRefusal = (
  command: { keyId?: KeyId; run: RunQueued; runsInFlight?: LimitPair },
  state: AccountState,
  atMs: number,
): { refuse: Refusal } | undefined => {
  const { run } = command
  const excess = failuresAt(state, atMs).count - MAX_OWN_FAILURES
  // Test runs have a limit of their own, and are there to fail.
  if (excess >= 0 && run.livemode !== false)
    return refuse('too_many_failures', { retryAfterMs: Math.round(excess * FAILURE_MS) + 1 })
  const tooLarge = run.livemode === false ? undefined : freeRefusal('failedRuns', atMs, state)
  if (tooLarge && bytesOf(run) > SMALL_RUN_BYTES) return tooLarge
  const inFlight = inFlightRefusal(command, state)
  if (inFlight) return inFlight
  if (state.openRuns.size >= MAX_OPEN_RUNS) return refuse('too_many_open_runs', { limit: MAX_OPEN_RUNS })
  if (state.openRunBytes + bytesOf(run) > MAX_OPEN_RUN_BYTES)
    return refuse('open_runs_too_large', { limitBytes: MAX_OPEN_RUN_BYTES })
  return undefined
}

/** The size of a run while it is open. */
export const bytesOf = (run: RunQueued): number => Buffer.byteLength(JSON.stringify(run))

const failuresAt = ({ ownFailures }: AccountState, nowMs: number): Decaying => decayed(ownFailures, nowMs, FAILURE_MS)

/** A run as a test key queues it. It has no debit, so it says itself what it would cost. */
export const asTestRun = ({ run, receipt, label }: Pick<QueueRun, 'run' | 'receipt' | 'label'>): RunQueued => ({
  ...run,
  livemode: false,
  receipt,
  ...(label !== undefined && { label }),
})

/** Why an account may queue no further test run now; undefined if it may. */
export const testRunRefusal = (
  { testRunsPerDay: limit = Number.POSITIVE_INFINITY }: Pick<QueueRun, 'testRunsPerDay'>,
  { testRuns }: AccountState,
  atMs: number,
): { refuse: Refusal } | undefined => {
  const day = dayFor(atMs, testRuns)
  if ((testRuns.day === day ? testRuns.count : 0) < limit) return undefined
  return refuse('too_many_test_runs', { limit, retryAfterMs: Date.parse(day) + DAY_MS - atMs })
}

/** The state after a test run was queued. */
export const countTestRun = (state: AccountState, queuedAtMs: number): AccountState => {
  const day = dayFor(queuedAtMs, state.testRuns)
  return { ...state, testRuns: { day, count: (state.testRuns.day === day ? state.testRuns.count : 0) + 1 } }
}

/**
 * The day that a test run counts in. A day that another process's clock began stays; otherwise two clocks that
 * differ at midnight would begin their days again with every run.
 */
const dayFor = (atMs: number, { day }: AccountState['testRuns']): string =>
  day === dayOf(atMs + CLOCK_TOLERANCE_MS) ? day : dayOf(atMs)

/** Nothing decides otherwise: a test that a provider does would cost the operator. */
export const assertProvider = ({ livemode }: Moded, provider: string) => {
  if (livemode === false && provider !== SANDBOX)
    throw new RangeError(`a test run must run in the sandbox, not at ${provider}`)
}

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
  /** Sixty runs with files in their inputs, which is how many may fail at once. */
  failedRuns: { limitBytes: 12_000_000, otherBytes: 2_500 },
}

const kindOf = (event: AccountEvent): FreeEvents | undefined => {
  if (isAcceptance(event)) return event.data.livemode === false ? 'testRuns' : undefined
  switch (event.type) {
    case 'NoticesSet':
    case 'ApiKeyCreated':
    case 'ApiKeyRevoked':
    case 'BudgetSet':
    case 'BudgetRemoved':
    case 'TopUpSet':
    case 'TopUpRemoved':
    case 'WebhookSecretRotated':
    case 'WebhookTestRequested':
    case 'WebhookRedeliveryRequested':
      return 'changes'
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
const freeRefusal = (of: FreeEvents, atMs: number, state: AccountState): { refuse: Refusal } | undefined => {
  const excess = bytesAt(of, state, atMs).count - FREE_EVENTS[of].limitBytes
  return excess > 0 ? refuse('too_many_free_events', { of, retryAfterMs: Math.ceil(excess * byteMs(of)) }) : undefined
}

/** The state after an event, which is counted if it was free for the owner. */
export const countFree = (state: AccountState, event: PastEvent<AccountEvent>): AccountState => {
  const of = isByOwner(event) ? kindOf(event) : undefined
  return of ? addFree(of, Buffer.byteLength(JSON.stringify(event.data)), Date.parse(clockOf(event)), state) : state
}

/** The state after an event with data of so many bytes. */
const addFree = (of: FreeEvents, bytes: number, nowMs: number, state: AccountState): AccountState => {
  const { count, atMs } = bytesAt(of, state, nowMs)
  return withBytes(of, { count: count + bytes + FREE_EVENTS[of].otherBytes, atMs }, state)
}

/** The state after something of this size was paid for, which offsets as much that was free. */
const offsetFree = (of: FreeEvents, bytes: number, state: AccountState): AccountState => {
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
