import type { RunQueued } from '../../../schemas/account-events.ts'
import { type Moded, SANDBOX } from '../../../schemas/primitives.ts'
import { DAY_MS, dayOf } from '../days.ts'
import { type Refusal, refuse } from '../refusal.ts'
import type { QueueRun } from './commands.ts'
import { type AccountState, CLOCK_TOLERANCE_MS } from './state.ts'

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
 * The day that a test run counts in: one that has begun by another process's clock goes on. Otherwise two clocks that
 * differ at midnight would begin their days again with every run.
 */
const dayFor = (atMs: number, { day }: AccountState['testRuns']): string =>
  day === dayOf(atMs + CLOCK_TOLERANCE_MS) ? day : dayOf(atMs)

/** Nothing decides otherwise: a test that a provider does would cost the operator. */
export const assertProvider = ({ livemode }: Moded, provider: string) => {
  if (livemode === false && provider !== SANDBOX)
    throw new RangeError(`a test run must run in the sandbox, not at ${provider}`)
}
