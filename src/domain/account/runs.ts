import {
  type AcceptedRun,
  type AccountEvent,
  type ArchivedRun,
  type RunStarted,
  requestNameOf,
  type Upstream,
} from '../../../schemas/account-events.ts'
import type { Moded, RunId } from '../../../schemas/primitives.ts'
import { settle } from '../catalog/pricing.ts'
import { accept, repeat } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import { budgetRefusal, budgetUse, unknownBudget } from './budgets.ts'
import type { CallerMode, Completion, Failure, QueueRun, SubmittedRun } from './commands.ts'
import { afterMoves, creditsDebited, creditsRefunded, creditsReleased } from './credits.ts'
import { isWithinMode, modelRefusal, modeOf, writeRefusal } from './keys.ts'
import { assertProvider, asTestRun, limitRefusal, testRunRefusal } from './limits.ts'
import { debitNotices } from './notices.ts'
import { type AccountState, REMEMBER_MS, type RememberedRequest } from './state.ts'

export const queueRun = (command: QueueRun & CallerMode, state: AccountState, atMs: number): Decided<AccountEvent> => {
  const { keyId, receipt, label, startAt } = command
  const refusal = writeRefusal(keyId, state, atMs)
  if (refusal) return refusal
  const isTest = modeOf(command, state).livemode === false
  const run: AcceptedRun = isTest ? asTestRun(command) : command.run
  const repeated = decideRepeat(run, state, atMs)
  if (repeated) return repeated
  if (state.openRuns.has(run.runId)) return refuse('run_exists')
  if (state.retentionDays === 0 && run.store !== false) return refuse('retention_changed', { retryAfterMs: 1000 })
  const restricted =
    modelRefusal(keyId, receipt, state) ??
    ceilingRefusal(command) ??
    unknownBudget(command, state) ??
    (isTest ? testRunRefusal(command, state, atMs) : priceRefusal(command, state, atMs)) ??
    limitRefusal({ ...command, run }, state, atMs)
  if (restricted) return restricted
  return accept([
    ...(isTest ? [] : [creditsDebited(state, run.runId, receipt, { label, budget: budgetUse(command, atMs, state) })]),
    startAt ? started(run, { ...run, upstream: startAt }) : { type: 'RunQueued', data: run },
    ...(isTest ? [] : debitNotices({ keyId, amountMicros: receipt.totalMicros, atMs }, state)),
  ])
}

/** Why a run may not cost as much as it can at most; undefined if it may. */
export const ceilingRefusal = ({
  receipt: { totalMicros },
  maxMicros,
}: Pick<QueueRun, 'receipt' | 'maxMicros'>): { refuse: Refusal } | undefined =>
  maxMicros !== undefined && totalMicros > maxMicros
    ? refuse('price_above_limit', { requiredMicros: totalMicros, maxMicros })
    : undefined

/** Why the price cannot be paid; undefined if it can. */
const priceRefusal = (command: QueueRun, state: AccountState, atMs: number): { refuse: Refusal } | undefined => {
  const price = command.receipt.totalMicros
  const beyond = budgetRefusal(command, price, atMs, state)
  if (beyond) return beyond
  const { balanceMicros, owedMicros } = state
  if (owedMicros > 0) return refuse('credits_owed', { owedMicros })
  return price > balanceMicros ? refuse('insufficient_credits', { requiredMicros: price, balanceMicros }) : undefined
}

/**
 * The decision on a request whose idempotency key was used in the last 24 hours: it returns the same run, or is refused
 * if it differs. Undefined if the key was not used. `dropped` is an earlier request that the state no longer holds.
 */
export const decideRepeat = (
  { idempotency, ...run }: Pick<AcceptedRun, 'idempotency' | 'livemode'>,
  state: AccountState,
  atMs: number,
  dropped?: RememberedRequest,
): Decided<never> | undefined => {
  if (!idempotency) return undefined
  const earlier = state.requests.get(requestNameOf(idempotency.key, run)) ?? dropped
  if (!earlier || earlier.atMs <= atMs - REMEMBER_MS) return undefined
  return earlier.requestHash === idempotency.requestHash ? repeat(earlier.runId) : refuse('idempotency_mismatch')
}

export const startRun = (
  { runId, upstream }: { runId: RunId; upstream: Upstream },
  state: AccountState,
): Decided<AccountEvent> => {
  const run = state.openRuns.get(runId)
  if (!run) return refuse('run_not_open')
  if (run.isStarted) return refuse('run_already_started')
  return accept([started(run, { runId, upstream })])
}

export const submitRun = (
  { runId, jobId, upstream, attempts }: SubmittedRun,
  state: AccountState,
): Decided<AccountEvent> => {
  const run = state.openRuns.get(runId)
  if (!run) return refuse('run_not_open')
  if (!run.isStarted) return refuse('run_not_started')
  if (run.jobId !== undefined) return refuse('run_already_submitted')
  assertProvider(run, upstream.provider)
  return accept([{ type: 'RunSubmitted', data: { runId, jobId, upstream, ...(attempts && { attempts }) } }])
}

/**
 * A queued run ends at once. For a started run the request is recorded, and the process that works on it stops the
 * provider.
 */
export const cancelRun = (
  { runId, ...caller }: CallerMode & { runId: RunId },
  state: AccountState,
): Decided<AccountEvent> => {
  const refusal = writeRefusal(caller.keyId, state)
  if (refusal) return refusal
  const run = state.openRuns.get(runId)
  if (!run || !isWithinMode(caller, run, state)) return refuse('run_not_open')
  if (!run.isStarted)
    return failRun({ runId, error: { code: 'cancelled', message: 'The run was cancelled before it began.' } }, state)
  return accept(run.isCancelRequested ? [] : [{ type: 'RunCancelRequested', data: { runId } }])
}

/** A run whose tokens have a price is settled in the same append. */
export const completeRun = (
  { runId, output, storingMs, usage, finishReason, upstream, cost, attempts }: Completion,
  state: AccountState,
): Decided<AccountEvent> => {
  const run = state.openRuns.get(runId)
  if (!run) return refuse('run_not_open')
  if (!run.isStarted) return refuse('run_not_started')
  const worked = upstream && { upstream, ...(cost && { cost }) }
  const course = { ...(attempts && { attempts }), ...(storingMs !== undefined && { storingMs }) }
  const facts = { ...(usage && { usage }), ...(finishReason && { finishReason }) }
  const released =
    run.receipt && usage ? creditsReleased(state, runId, run.receipt, settle(run.receipt, usage), run.debit) : []
  return accept([
    ...released,
    { type: 'RunCompleted', data: { runId, output, ...worked, ...course, ...facts } },
    ...afterMoves(state, released),
  ])
}

/** A failure refunds the credits in the same append, so they are never missing. A test run has none. */
export const failRun = (
  { runId, error, willDeleteAt, upstream, cost, attempts }: Failure,
  state: AccountState,
): Decided<AccountEvent> => {
  const run = state.openRuns.get(runId)
  if (!run) return refuse('run_not_open')
  const reason = `the run failed: ${error.code}`
  const refund = { runId, amountMicros: run.chargedMicros, reason, debit: run.debit, error: error.code }
  const refunded = run.livemode === false ? [] : [creditsRefunded(state, refund)]
  const course = { ...(upstream && { upstream }), ...(attempts && { attempts }) }
  return accept([
    { type: 'RunFailed', data: { runId, error, ...course, ...(willDeleteAt && { willDeleteAt }) } },
    ...refunded,
    // The cost shares the append of the end, so that each run has exactly one.
    ...(run.isStarted && upstream && cost
      ? [{ type: 'ProviderCostRecorded' as const, data: { runId, ...upstream, ...cost } }]
      : []),
    ...afterMoves(state, refunded),
  ])
}

/** Records that a run's results were deleted. The state no longer holds ended runs, so only open ones are refused. */
export const recordOutputDeletion = ({ runId }: { runId: RunId }, state: AccountState): Decided<AccountEvent> =>
  state.openRuns.has(runId) ? refuse('run_not_ended') : accept([{ type: 'RunOutputDeleted', data: { runId } }])

/** Archives the runs that have ended and are owed no webhook. */
export const archiveRuns = (
  { runs }: { runs: readonly ArchivedRun[] },
  { openRuns, deliveries }: AccountState,
): Decided<AccountEvent> => {
  const settled = runs.filter(({ runId }) => !openRuns.has(runId) && !deliveries.has(runId))
  return accept(settled.length > 0 ? [{ type: 'RunsArchived', data: { runs: settled } }] : [])
}

const started = (run: Moded, data: RunStarted): AccountEvent => {
  assertProvider(run, data.upstream.provider)
  return { type: 'RunStarted', data }
}
