import { fromMicros } from '../../domain/money.ts'
import type { PurchaseRefusals } from '../../domain/refusal.ts'
import { duration } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const purchases = {
  purchase_not_found: { api: 'not_found', message: () => 'The account has no purchase with this ID.' },
  purchase_not_paid: { api: 'invalid_request', message: () => 'The purchase has not been paid.' },
  too_many_purchases: {
    api: 'rate_limited',
    message: ({ limit, retryAfterMs }) =>
      `An account may begin ${limit} purchases an hour. Try again in ${duration(retryAfterMs)}.`,
  },
  credits_owed: {
    api: 'insufficient_credits',
    message: ({ owedMicros }) =>
      [
        `The account owes ${fromMicros(owedMicros)} credits: they were used, and their payment was disputed.`,
        'Until they are paid, nothing runs. The next credits that you buy pay them first. If the dispute is a mistake,',
        'withdraw it at your bank.',
      ].join(' '),
    details: ({ owedMicros }) => ({ credits_owed: fromMicros(owedMicros) }),
  },
  refund_above_rest: {
    api: 'invalid_request',
    message: ({ most, currency }) =>
      `At most ${most} ${currency} of this purchase can be refunded: the other credits were used, returned or expired.`,
  },
} satisfies RefusalTable<PurchaseRefusals>
