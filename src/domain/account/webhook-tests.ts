import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { WebhookTestId } from '../../../schemas/primitives.ts'
import type { WebhookTested } from '../../../schemas/webhook-events.ts'
import { accept } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { RequestWebhookTest } from './commands.ts'
import { hourlyWaitMs } from './hourly.ts'
import { writeRefusal } from './keys.ts'
import type { AccountState } from './state.ts'

/** Tests of an account in an hour: enough to set up a receiver, and too few to use the service against somebody. */
export const MAX_TESTS = 5

/** Allows one attempt, which counts from now on whether or not it is made. */
export const request = (
  { keyId, atMs, testId, url }: RequestWebhookTest,
  state: AccountState,
): Decided<AccountEvent> => {
  const refused = writeRefusal(keyId, state, atMs)
  if (refused) return refused
  const times = state.webhookTests.map(test => test.atMs)
  const retryAfterMs = hourlyWaitMs(times, MAX_TESTS, atMs)
  if (retryAfterMs !== undefined) return refuse('too_many_webhook_tests', { limit: MAX_TESTS, retryAfterMs })
  return accept([{ type: 'WebhookTestRequested', data: { testId, url } }])
}

/** Records the result of an attempt once. */
export const record = ({ result }: { result: WebhookTested }, state: AccountState): Decided<AccountEvent> =>
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
