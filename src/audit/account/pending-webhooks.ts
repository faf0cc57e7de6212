import { isAcceptance } from '../../../schemas/account-events.ts'
import type { AccountRecord } from '../read-log.ts'

export interface PendingWebhook {
  runId: string
  url: string
  attempts: number
  lastStatus?: number
  lastReason?: string
  nextAttemptAt?: string
}

/** The webhooks that are still to be delivered. */
export class PendingWebhooks {
  /** The webhook of each run that has not ended. */
  readonly #requested = new Map<string, string>()
  readonly #pending = new Map<string, PendingWebhook>()

  take(event: AccountRecord) {
    if (isAcceptance(event) && event.data.webhookUrl !== undefined)
      this.#requested.set(event.data.runId, event.data.webhookUrl)
    const { type, data } = event
    switch (type) {
      case 'RunCompleted':
      case 'RunFailed': {
        const url = this.#requested.get(data.runId)
        if (url !== undefined) this.#owe(data.runId, url)
        this.#requested.delete(data.runId)
        return
      }
      case 'WebhookRedeliveryRequested':
        this.#owe(data.runId, data.url)
        return
      case 'WebhookAttemptFailed': {
        const { runId, attempt: attempts, status, reason: lastReason, nextAttemptAt } = data
        const { url = '' } = this.#pending.get(runId) ?? {}
        this.#pending.set(runId, {
          ...{ runId, url, attempts, lastReason },
          ...(status !== undefined && { lastStatus: status }),
          ...(nextAttemptAt !== undefined && { nextAttemptAt }),
        })
        return
      }
      case 'WebhookDelivered':
      case 'WebhookAbandoned':
        this.#pending.delete(data.runId)
    }
  }

  list(): PendingWebhook[] {
    return [...this.#pending.values()]
  }

  #owe(runId: string, url: string) {
    this.#pending.set(runId, { runId, url, attempts: 0 })
  }
}
