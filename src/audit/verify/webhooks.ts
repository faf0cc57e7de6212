import type { Report } from '../fault.ts'
import { Attempts } from './attempts.ts'
import { type AuditedEvent, type ReportEnd, type Rule, runIdOf } from './rule.ts'

/** Webhooks belong to ended runs that asked for one; their attempts count from 1; the last failed one is abandoned. */
export class Webhooks implements Rule {
  /** The runs that asked for a webhook: those that have not ended, and those that have. */
  readonly #asked = new Set<string>()
  readonly #ended = new Set<string>()
  readonly #attempts = new Attempts({
    ...{ noun: 'webhook', delivered: 'WebhookDelivered' },
    ...{ failed: 'WebhookAttemptFailed', abandoned: 'WebhookAbandoned' },
  })

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    const runId = runIdOf(event)
    this.#attempts.take(event, runId, report)
    if (type === 'RunQueued' && data['webhookUrl'] !== undefined) this.#asked.add(runId)
    if ((type === 'RunCompleted' || type === 'RunFailed') && this.#asked.delete(runId)) {
      this.#ended.add(runId)
      this.#attempts.begin(runId)
    }
    if (type !== 'WebhookRedeliveryRequested') return
    if (!this.#ended.has(runId)) report('no run with a webhook has ended that it could be of')
    if (this.#attempts.isPending(runId)) report('a delivery of this webhook is still pending')
    this.#attempts.begin(runId)
  }

  end(report: ReportEnd) {
    this.#attempts.end(report)
  }
}
