import { fromMicros } from '../../domain/money.ts'
import type { PurchaseRefusals } from '../../domain/refusal.ts'
import { shownOffer } from './ledger.ts'
import { duration, urlFaults } from './phrases.ts'
import type { RefusalTable } from './refusal-table.ts'

export const purchases = {
  report_not_signed: {
    api: 'invalid_request',
    message: ({ fault }) =>
      ({
        missing: 'The report has no signature in the header Stripe-Signature.',
        old: 'The signature of the report is more than five minutes old.',
        forged: 'The signature of the report is not that of the webhook secret, or its body was changed on the way.',
      })[fault],
  },
  purchase_ambiguous: {
    api: 'invalid_request',
    message: () => 'Give either `pack` or `credits`.',
    details: () => ({ errors: [{ path: '', message: 'must have exactly one of pack and credits' }] }),
  },
  return_url_invalid: {
    api: 'invalid_request',
    message: ({ parameter, fault }) => `${parameter} ${urlFaults[fault]}.`,
    details: ({ parameter, fault }) => ({ errors: [{ path: `/${parameter}`, message: urlFaults[fault] }] }),
  },
  amount_not_payable: {
    api: 'invalid_request',
    message: ({ reason }) => `This amount cannot be paid: ${reason}. Choose another pack or amount.`,
  },
  purchase_not_found: { api: 'not_found', message: () => 'The account has no purchase with this ID.' },
  purchase_not_paid: {
    api: 'invalid_request',
    message: () => 'The purchase has not been paid, so there is nothing to refund.',
  },
  too_many_purchases: {
    api: 'rate_limited',
    message: ({ limit, retryAfterMs }) =>
      `An account may open ${limit} purchases an hour. Try again in ${duration(retryAfterMs)}.`,
  },
  credits_owed: {
    api: 'insufficient_credits',
    message: ({ owedMicros }) =>
      [
        `The account owes ${fromMicros(owedMicros)} credits: they were used, and their payment was disputed.`,
        'Until they are paid, nothing runs. The next credits that you buy pay them first. If the dispute is a mistake,',
        'withdraw it at your bank.',
      ].join(' '),
    details: ({ owedMicros, offers }) => ({
      credits_owed: fromMicros(owedMicros),
      ...(offers && { offers: offers.map(shownOffer) }),
    }),
  },
  refunds_uncovered: {
    api: 'invalid_request',
    message: ({ refunds }) =>
      `The payment does not cover ${refunds.map(({ claimId }) => claimId).join(', ')} beside this claim.`,
  },
  refund_above_rest: {
    api: 'invalid_request',
    message: ({ most, currency }) =>
      [
        `At most ${most} ${currency} of this purchase can be refunded: the other credits were used, returned or`,
        'expired. To return more, refund the payment at Stripe.',
      ].join(' '),
  },
} satisfies RefusalTable<PurchaseRefusals>
