import type { UsagePart } from '../../../projections/usage.ts'
import type { Usage } from '../../../schemas/api/usage.ts'
import { fromMicros } from '../../domain/money.ts'
import type { UsageCounts } from './first-groups.ts'

/** A group as the API shows it, with the parts that were asked for. */
export const usageItem = (counts: UsageCounts, groupBy: readonly UsagePart[]): Usage => {
  const { day, model = null, keyId = null, label = null, runs, failures, chargedMicros, refundedMicros } = counts
  return {
    object: 'usage',
    ...(groupBy.includes('day') && day !== undefined && { day }),
    ...(groupBy.includes('model') && { model }),
    ...(groupBy.includes('key') && { key_id: keyId }),
    ...(groupBy.includes('label') && { label }),
    runs,
    failures,
    credits_charged: fromMicros(chargedMicros),
    credits_refunded: fromMicros(refundedMicros),
    credits: fromMicros(chargedMicros - refundedMicros),
  }
}
