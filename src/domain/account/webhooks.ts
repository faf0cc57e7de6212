import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { accept } from '../decider.ts'
import { type Decided, refuse } from '../refusal.ts'
import type { RecordDelivery, RedeliverWebhook } from './commands.ts'
import { writeRefusal } from './keys.ts'
import type { AccountState } from './state.ts'
import { resendRefusal } from './webhook-resends.ts'

/** Counts each attempt once, even if two processes made it at the same time. */
export const record = ({ runId, attempt, outcome }: RecordDelivery, state: AccountState): Decided<AccountEvent> => {
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
export const redeliver = (
  { runId, url, keyId, atMs, isByOwner }: RedeliverWebhook & { isByOwner?: boolean },
  state: AccountState,
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
