import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** A test of a webhook is requested once, and has at most one result. A crash may leave it without. */
export class WebhookTests implements Rule {
  /** The tests so far, and whether they have a result. */
  readonly #tests = new Map<string, boolean>()

  take({ type, data }: AuditedEvent, report: Report) {
    const testId = String(data['testId'])
    if (type === 'WebhookTestRequested') {
      if (this.#tests.has(testId)) report(`the webhook test ${testId} was already requested`)
      this.#tests.set(testId, false)
    }
    if (type === 'WebhookTested') {
      if (this.#tests.get(testId) !== false) report(`the webhook test ${testId} was not requested, or has a result`)
      this.#tests.set(testId, true)
    }
  }
}
