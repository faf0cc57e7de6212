import type * as api from '../../../schemas/api/top-up.ts'
import { fromMicros } from '../../domain/money.ts'
import type { TopUpInfo } from './top-ups.ts'

/** The top-ups of an account in the form of the API. */
export const topUpItem = ({ settings, paidAmount, dueAt, purchaseId, failures }: TopUpInfo): api.TopUp => {
  const { underMicros, creditsMicros, targetMicros, monthlyAmount, currency } = settings
  return {
    object: 'top_up',
    below_credits: fromMicros(underMicros),
    ...(creditsMicros !== undefined && { credits: fromMicros(creditsMicros) }),
    ...(targetMicros !== undefined && { target_credits: fromMicros(targetMicros) }),
    ...{ monthly_amount: monthlyAmount, currency, monthly_amount_paid: paidAmount },
    ...(dueAt !== undefined && { due_at: dueAt }),
    ...(purchaseId && { purchase_id: purchaseId }),
    failures,
  }
}
