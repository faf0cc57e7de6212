import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { RunId } from '../../../schemas/primitives.ts'
import { accept, type Decision, refuse } from '../decider.ts'
import type { RecordDelivery } from './commands.ts'
import type { AccountState } from './state.ts'

/** Each attempt counts once, whoever made it: two processes may have tried at the same time. */
export const record = ({ runId, attempt, outcome }: RecordDelivery, state: AccountState): Decision<AccountEvent> => {
  const delivery = state.deliveries.get(runId)
  if (!delivery || attempt !== delivery.attempts + 1) return refuse('webhook_not_pending')
  if (outcome.delivered) return accept([{ type: 'WebhookDelivered', data: { runId, attempt, status: outcome.status } }])
  const { delivered: _, ...failure } = outcome
  return accept([
    { type: 'WebhookAttemptFailed', data: { runId, attempt, ...failure } },
    ...(failure.nextAttemptAt === undefined ? [abandoned(runId, attempt)] : []),
  ])
}

/** The operator wants a receiver to be told again. That the run has ended and where to tell is for the asker to know. */
export const redeliver = (
  { runId, url }: { runId: RunId; url: string },
  state: AccountState,
): Decision<AccountEvent> => {
  if (state.openRuns.has(runId)) return refuse('run_not_ended')
  if (state.deliveries.has(runId)) return refuse('webhook_pending')
  return accept([{ type: 'WebhookRedeliveryRequested', data: { runId, url } }])
}

const abandoned = (runId: RunId, attempts: number): AccountEvent => ({
  type: 'WebhookAbandoned',
  data: { runId, attempts },
})
