import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** Only operators set the limits of an account. */
export class Limits implements Rule {
  take({ type, metadata }: AuditedEvent, report: Report) {
    if (type !== 'LimitsSet') return
    const { kind } = metadata.actor as { kind: string }
    if (kind !== 'operator') report(`it was caused by a ${kind}, and only operators set limits`)
  }
}
