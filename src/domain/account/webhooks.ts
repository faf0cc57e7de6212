import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { RunId, WebhookTestId } from '../../../schemas/primitives.ts'
import type { WebhookTested } from '../../../schemas/webhook-events.ts'
import { DAY_MS } from '../days.ts'
import { accept } from '../decider.ts'
import { type Decided, type Refusal, refuse } from '../refusal.ts'
import type { Asked, RecordDelivery, RedeliverWebhook, RequestWebhookTest } from './commands.ts'
import { writeRefusal } from './keys.ts'
import { type AccountState, CLOCK_TOLERANCE_MS, isByOwner } from './state.ts'

/** Counts each attempt once, even if two processes made it at the same time. */
export const recordDelivery = (
  { runId, attempt, outcome }: RecordDelivery,
  state: AccountState,
): Decided<AccountEvent> => {
  const delivery = state.deliveries.get(runId)
  if (!delivery || attempt !== delivery.attempts + 1) return refuse('webhook_not_pending')
  if (outcome.delivered) return accept([{ type: 'WebhookDelivered', data: { runId, attempt, status: outcome.status } }])
  const { delivered: _, ...failure } = outcome
  return accept([
    { type: 'WebhookAttemptFailed', data: { runId, attempt, ...failure } },
    ...(failure.nextAttemptAt === undefined ? [abandoned(runId, attempt)] : []),
  ])
}

/** Makes a webhook due again. The service checks that the run has a webhook. */
export const redeliverWebhook = (
  { runId, url, keyId, isByOwner }: RedeliverWebhook & { isByOwner?: boolean },
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  if (state.openRuns.has(runId)) return refuse('run_not_ended')
  if (state.deliveries.has(runId)) return refuse('webhook_pending')
  const limited = isByOwner ? resendRefusal(atMs, state) : undefined
  return limited ?? accept([{ type: 'WebhookRedeliveryRequested', data: { runId, url } }])
}

const abandoned = (runId: RunId, attempts: number): AccountEvent => ({
  type: 'WebhookAbandoned',
  data: { runId, attempts },
})

/**
 * Webhooks that the owner of an account may have sent again in an hour. They cost nothing, and each may lead to ten
 * attempts. The operator's redeliveries do not count.
 */
export const MAX_RESENDS = 100

/** Why the owner may not have a webhook sent again now; undefined if it may. */
const resendRefusal = (atMs: number, state: AccountState): { refuse: Refusal } | undefined => {
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

/** How long the secret before the last rotation signs as well: receivers have a day to take the new one over. */
export const OVERLAP_MS = DAY_MS

/**
 * Makes the next secret. There is one rotation at a time, so a webhook never has more than two signatures, and a
 * receiver that took over the secret of the last rotation is never cut off by the next one.
 */
export const rotateWebhookSecret = ({ keyId }: Asked, state: AccountState, atMs: number): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  const untilMs = overlapEndMs(state, atMs)
  if (untilMs !== undefined) return refuse('webhook_secret_rotated', { retryAfterMs: untilMs - atMs })
  return accept([{ type: 'WebhookSecretRotated', data: { generation: state.webhookSecret.generation + 1 } }])
}

/** The generations of the secrets that sign at a time, the newest first. */
export const signingGenerations = (state: AccountState, nowMs: number): number[] => {
  const { generation } = state.webhookSecret
  return overlapEndMs(state, nowMs) === undefined ? [generation] : [generation, generation - 1]
}

/**
 * Until when the secret before the last rotation signs as well; undefined if it does not. A rotation by a clock that
 * was a day or more ahead is over, since it would last for too long.
 */
export const overlapEndMs = (
  { webhookSecret: { generation, rotatedAtMs } }: AccountState,
  nowMs: number,
): number | undefined =>
  generation > 0 && Math.abs(nowMs - rotatedAtMs) < OVERLAP_MS ? rotatedAtMs + OVERLAP_MS : undefined

/** Tests of an account in an hour: enough to set up a receiver, and too few to use the service against somebody. */
export const MAX_TESTS = 5

/** Allows one attempt, which counts from now on whether or not it is made. */
export const requestWebhookTest = (
  { keyId, testId, url }: RequestWebhookTest,
  state: AccountState,
  atMs: number,
): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  const times = state.webhookTests.map(test => test.atMs)
  const retryAfterMs = hourlyWaitMs(times, MAX_TESTS, atMs)
  if (retryAfterMs !== undefined) return refuse('too_many_webhook_tests', { limit: MAX_TESTS, retryAfterMs })
  return accept([{ type: 'WebhookTestRequested', data: { testId, url } }])
}

/** Records the result of an attempt once. */
export const recordWebhookTest = ({ result }: { result: WebhookTested }, state: AccountState): Decided<AccountEvent> =>
  state.webhookTests.some(({ testId, isOpen }) => testId === result.testId && isOpen)
    ? accept([{ type: 'WebhookTested', data: result }])
    : refuse('webhook_not_pending')

/** The state after a test was requested. */
export const addTest = (state: AccountState, testId: WebhookTestId, atMs: number): AccountState => ({
  ...state,
  webhookTests: [...state.webhookTests, { testId, atMs, isOpen: true }].slice(-MAX_TESTS),
})

/** The state after the result of a test was recorded. */
export const closeTest = (state: AccountState, testId: WebhookTestId): AccountState => ({
  ...state,
  webhookTests: state.webhookTests.map(test => (test.testId === testId ? { ...test, isOpen: false } : test)),
})

const HOUR_MS = 60 * 60 * 1000

/**
 * How long to wait until there were fewer than `limit` within the last hour; undefined if there are now. No more times
 * than `limit` are given. Those of a clock that is a little ahead count. Those of a clock that was far ahead do not,
 * since they would count for too long.
 */
export const hourlyWaitMs = (times: readonly number[], limit: number, nowMs: number): number | undefined => {
  const recent = times.filter(atMs => atMs > nowMs - HOUR_MS && atMs <= nowMs + CLOCK_TOLERANCE_MS)
  return recent.length < limit ? undefined : Math.min(...recent) + HOUR_MS - nowMs
}
