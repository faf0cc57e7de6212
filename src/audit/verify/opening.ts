import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** An account's stream begins with its opening, and is named after it. */
export class Opening implements Rule {
  readonly #accountId: string
  #isOpen = false

  constructor(stream: string) {
    this.#accountId = stream.slice(stream.indexOf('-') + 1)
  }

  take({ type, data }: AuditedEvent, report: Report) {
    if (type === 'AccountOpened') {
      if (this.#isOpen) report('the account was opened before')
      if (data['accountId'] !== this.#accountId)
        report(`it opens ${data['accountId']} in the stream of another account`)
    } else if (!this.#isOpen) report('the account was not opened')
    this.#isOpen = true
  }
}
