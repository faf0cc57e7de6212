import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** The generations of the webhook secret follow one another from 1. */
export class WebhookSecrets implements Rule {
  #generation = 0

  take({ type, data }: AuditedEvent, report: Report) {
    if (type !== 'WebhookSecretRotated') return
    const generation = Number(data['generation'])
    if (generation !== this.#generation + 1)
      report(`its generation is ${generation}, and ${this.#generation} came before`)
    this.#generation = generation
  }
}
