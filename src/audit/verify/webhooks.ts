import type { Report } from '../fault.ts'
import { type AuditedEvent, type ReportEnd, type Rule, runIdOf } from './rule.ts'

/** Webhooks belong to ended runs that asked for one; their attempts count from 1; the last failed one is abandoned. */
export class Webhooks implements Rule {
  /** The runs that asked for a webhook: those that have not ended, and those that have. */
  readonly #asked = new Set<string>()
  readonly #ended = new Set<string>()
  /** The attempts so far of each delivery that is not over. */
  readonly #attempts = new Map<string, number>()
  #abandoned: string | undefined

  take(event: AuditedEvent, report: Report) {
    const { type, data } = event
    const runId = runIdOf(event)
    const abandoned = this.#abandoned
    this.#abandoned = undefined
    if (abandoned && !(type === 'WebhookAbandoned' && runId === abandoned))
      report(`it is not the WebhookAbandoned of ${abandoned}, which the event before it calls for`)
    switch (type) {
      case 'RunQueued':
        if (data['webhookUrl'] !== undefined) this.#asked.add(runId)
        return
      case 'RunCompleted':
      case 'RunFailed':
        if (!this.#asked.delete(runId)) return
        this.#ended.add(runId)
        this.#attempts.set(runId, 0)
        return
      case 'WebhookRedeliveryRequested':
        if (!this.#ended.has(runId)) report('no run with a webhook has ended that it could be of')
        if (this.#attempts.has(runId)) report('a delivery of this webhook is still pending')
        this.#attempts.set(runId, 0)
        return
      case 'WebhookDelivered':
        this.#attempt(runId, data, report)
        this.#attempts.delete(runId)
        return
      case 'WebhookAttemptFailed':
        this.#attempt(runId, data, report)
        if (data['nextAttemptAt'] === undefined) this.#abandoned = runId
        return
      case 'WebhookAbandoned':
        if (!abandoned) report('no failed attempt precedes it')
        this.#attempts.delete(runId)
    }
  }

  end(report: ReportEnd) {
    if (this.#abandoned) report(`the stream ends before the WebhookAbandoned of ${this.#abandoned}`)
  }

  #attempt(runId: string, { attempt }: AuditedEvent['data'], report: Report) {
    const before = this.#attempts.get(runId)
    if (before === undefined) report('no delivery of this webhook is pending')
    else if (attempt !== before + 1) report(`its attempt is ${attempt}, and ${before} came before it`)
    this.#attempts.set(runId, Number(attempt))
  }
}
