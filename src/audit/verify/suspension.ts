import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** The actors that act for the account's owner. */
const OWNERS = ['key', 'session']

/** An account is suspended and resumed in turns, and meanwhile its owner changes nothing but signs out. */
export class Suspension implements Rule {
  #isSuspended = false

  take({ type, metadata }: AuditedEvent, report: Report) {
    const { kind } = metadata.actor as { kind: string }
    if (this.#isSuspended && OWNERS.includes(kind) && type !== 'SessionClosed')
      report('the owner of the account caused it during its suspension')
    if (type === 'AccountSuspended') {
      if (this.#isSuspended) report('the account was suspended before')
      this.#isSuspended = true
    }
    if (type === 'AccountResumed') {
      if (!this.#isSuspended) report('the account was not suspended')
      this.#isSuspended = false
    }
  }
}
