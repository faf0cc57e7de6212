import { providerEvents } from '../../../schemas/provider-events.ts'
import type { Report } from '../fault.ts'
import { checkOperator } from './auditors.ts'
import type { AuditedEvent } from './rule.ts'

/** Only operators choose among providers. */
export const checkChoice = ({ type, metadata: { actor } }: AuditedEvent, report: Report) => {
  if (Object.hasOwn(providerEvents, type)) checkOperator(actor, report)
}
