import type { RunErrorCode, RunQueued } from '../../../schemas/account-events.ts'
import { type KeyId, MAX_OPEN_RUN_BYTES, MAX_OPEN_RUNS } from '../../../schemas/primitives.ts'
import { type Refusal, refuse } from '../refusal.ts'
import { addFree, freeRefusal, offsetFree } from './free-events.ts'
import { inFlightRefusal, type LimitPair } from './limits.ts'
import { type AccountState, CLOCK_TOLERANCE_MS, type Decaying, decayed } from './state.ts'

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
