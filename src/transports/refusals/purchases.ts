import { minuteText } from '../../domain/days.ts'
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
        forged: 'The signature does not match the webhook secret, or the body was changed on the way.',
      })[fault],
  },
  report_unreadable: {
    api: 'invalid_request',
    message: () => 'The report is signed, but something in it is missing or has another form than Stripe documents.',
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
    message: () => 'The purchase has not been paid, so there is nothing to pay back.',
  },
  begin_at_once_required: {
    api: 'invalid_request',
    message: ({ days }) =>
      [
        'Set begin_at_once to true if the buyer wants the credits at once, before the end of the',
        `${days} days in which a consumer may withdraw from the contract. A buyer who then withdraws pays for the`,
        'credits used so far.',
      ].join(' '),
    details: () => ({ errors: [{ path: '/begin_at_once', message: 'must be true' }] }),
  },
  invoice_not_found: { api: 'not_found', message: () => 'The purchase has no invoice.' },
  too_many_invoices: {
    api: 'rate_limited',
    message: ({ retryAfterMs }) =>
      `The account has requested too many invoices. Try again in ${duration(retryAfterMs)}.`,
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
        'No run starts until this debt is paid. The next credits that you buy pay it first. If the dispute is a',
        'mistake, withdraw it at your bank.',
      ].join(' '),
    details: ({ owedMicros, offers }) => ({
      credits_owed: fromMicros(owedMicros),
      ...(offers && { offers: offers.map(shownOffer) }),
    }),
  },
  no_kept_method: {
    api: 'invalid_request',
    message: () =>
      'The account has no kept payment method. Buy credits once with `keep_method: true`, then set top-ups.',
  },
  top_ups_unavailable: {
    api: 'invalid_request',
    message: () => 'This service cannot charge kept payment methods. Buy credits on its payment page instead.',
  },
  monthly_amount_too_low: {
    api: 'invalid_request',
    message: ({ price, currency }) =>
      `A top-up can cost ${price} ${currency}, which is more than monthly_amount. Raise monthly_amount.`,
    details: ({ price }) => ({ errors: [{ path: '/monthly_amount', message: `must be at least ${price}` }] }),
  },
  monthly_amount_invalid: {
    api: 'invalid_request',
    message: ({ currency }) => `monthly_amount must have the decimals of ${currency}.`,
    details: ({ currency }) => ({
      errors: [{ path: '/monthly_amount', message: `must have the decimals of ${currency}` }],
    }),
  },
  target_too_low: {
    api: 'invalid_request',
    message: ({ underMicros }) =>
      `target_credits must be more than below_credits, which is ${fromMicros(underMicros)}.`,
    details: ({ underMicros }) => ({
      errors: [{ path: '/target_credits', message: `must be more than ${fromMicros(underMicros)}` }],
    }),
  },
  top_up_not_found: { api: 'not_found', message: () => 'The account has no automatic top-ups.' },
  top_up_ambiguous: {
    api: 'invalid_request',
    message: () => 'Give either `credits` or `target_credits`.',
    details: () => ({ errors: [{ path: '', message: 'must have exactly one of credits and target_credits' }] }),
  },
  top_up_not_due: { api: 'invalid_request', message: () => 'No top-up is due.' },
  refunds_uncovered: {
    api: 'invalid_request',
    message: ({ refunds }) =>
      `The payment is too small for this claim and for ${refunds.map(({ claimId }) => claimId).join(', ')}.`,
  },
  refund_above_rest: {
    api: 'invalid_request',
    message: ({ most, currency }) =>
      [
        /[1-9]/.test(most)
          ? `At most ${most} ${currency} of this purchase can be refunded: the other credits were used, returned or`
          : 'Nothing of this purchase can be refunded here: its credits were used, returned or',
        'expired. To return more, refund the payment at Stripe.',
      ].join(' '),
  },
  withdrawal_not_offered: {
    api: 'invalid_request',
    message: () => 'This purchase was made without a right to withdraw from the contract. Ask the seller for a refund.',
  },
  withdrawal_too_late: {
    api: 'invalid_request',
    message: ({ endsAt }) => `The right to withdraw from this contract ended at ${minuteText(endsAt)}.`,
  },
} satisfies RefusalTable<PurchaseRefusals>
