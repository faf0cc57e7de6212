import { hasEnded, runKey } from '../../../projections/runs.ts'
import type { DeliverTask, RunRow } from '../../../schemas/views.ts'
import type { RecordDelivery } from '../../domain/account/commands.ts'
import type { AccountState } from '../../domain/account/state.ts'
import type { Random } from '../../ports/random.ts'
import { webhookIdOf } from '../../services/ids.ts'
import type { Presenter } from '../../services/presenter.ts'
import type { Reads } from '../../services/views/reads.ts'
import { type SendDependencies, sendWebhook } from '../../services/webhooks/send-webhook.ts'
import type { WebhookSecrets } from '../../services/webhooks/webhook-secrets.ts'
import { outcomeOf } from './attempt-outcome.ts'

export interface AttemptDependencies extends SendDependencies {
  present: Presenter
  reads: Reads
  secretsOf: WebhookSecrets
  random: Random
}

/** One attempt to deliver something. */
export interface Delivery<Command extends { outcome: { delivered: boolean } }> {
  /** Whether the account is still owed this attempt. */
  isDue(state: AccountState): boolean
  /** Makes the attempt. Resolves to the command that records it. */
  attempt(state: AccountState): Promise<Command>
}

/** The webhook of a run; undefined if the run has not ended. */
export const webhookDelivery = async (
  dependencies: AttemptDependencies,
  { url, accountId, runId, attempt }: DeliverTask,
): Promise<Delivery<RecordDelivery> | undefined> => {
  const run = await dependencies.reads.get('runs', runKey(accountId, runId))
  if (!run || !hasEnded(run)) return undefined
  return {
    isDue: ({ deliveries }) => deliveries.get(runId)?.attempts === attempt - 1,
    attempt: async state => {
      const sent = await sendWebhook(dependencies, {
        ...{
          url,
          id: webhookIdOf(runId),
          secrets: dependencies.secretsOf(accountId, state, dependencies.clock.nowMs(), run),
        },
        event: {
          type: run.status === 'completed' ? 'run.completed' : 'run.failed',
          timestamp: run.completedAt ?? run.createdAt,
          livemode: run.livemode !== false,
          data: dependencies.present.run(atItsEnd(run)),
        },
      })
      return { type: 'RecordDelivery', runId, attempt, outcome: outcomeOf(dependencies, attempt, sent) }
    },
  }
}

/**
 * A completed run without what happened to it later: a refund, or the deletion of its output. All attempts must carry
 * the same body, since receivers recognise repeats by their id.
 */
const atItsEnd = (run: RunRow): RunRow => {
  if (run.status === 'failed') return run
  const { refundedMicros: _, outputDeletedAt: __, ...ended } = run
  return ended
}
