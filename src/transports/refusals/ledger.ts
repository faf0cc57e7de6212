import { resolve } from 'node:path'
import type { CreditsOffer as ShownOffer } from '../../../schemas/api/packs.ts'
import { fromMicros } from '../../domain/money.ts'
import type { CreditsOffer, GrantPlace, LedgerRefusals } from '../../domain/refusal.ts'
import type { RefusalTable } from './refusal-table.ts'

export const ledger = {
  balance_too_high: {
    api: 'invalid_request',
    message: () => 'The balance would be too large to represent exactly.',
  },
  insufficient_credits: {
    api: 'insufficient_credits',
    message: ({ requiredMicros, balanceMicros, grantTo, offers }) =>
      [
        `The run costs ${fromMicros(requiredMicros)} credits and the balance is ${fromMicros(balanceMicros)}.`,
        grantTo === undefined
          ? `Choose a cheaper model or input, or ${waysToGet(offers)}.`
          : `To add credits, run this in the folder of Tollgate: ${grantCommand(grantTo)}`,
      ].join(' '),
    details: ({ requiredMicros, balanceMicros, offers }) => ({
      required_credits: fromMicros(requiredMicros),
      credits_balance: fromMicros(balanceMicros),
      ...(offers && { offers: offers.map(shownOffer) }),
    }),
  },
  lot_not_found: {
    api: 'not_found',
    message: ({ lots }) => `The account has ${lots} lots, which have the numbers of its grants, from 1.`,
  },
  lot_expired: {
    api: 'invalid_request',
    message: () => 'The lot has expired. To return its credits, grant them again.',
  },
  lot_not_extended: {
    api: 'invalid_request',
    message: ({ expiresAt }) =>
      expiresAt === undefined
        ? 'The lot never expires, so there is nothing to extend.'
        : `The lot expires at ${expiresAt}. Give a later time.`,
  },
  lot_not_due: {
    api: 'invalid_request',
    message: () => 'The lot does not expire now, and no notice of its expiry is due.',
  },
  reference_mismatch: {
    api: 'invalid_request',
    message: () => 'This reference was used for a different amount. Use a new one.',
  },
  too_many_references: {
    api: 'rate_limited',
    message: ({ limit }) =>
      `The account has reached the limit of ${limit} grants, withdrawals, payments and refunds. Use another account.`,
  },
  refunds_changed: {
    api: 'invalid_request',
    message: () => 'The account received other refunds at the same time. Try again.',
  },
  refund_too_high: {
    api: 'invalid_request',
    message: ({ refundableMicros }) =>
      refundableMicros === 0
        ? 'This run has already been refunded in full.'
        : `At most ${fromMicros(refundableMicros)} credits of this run can be refunded.`,
  },
  run_not_charged: {
    api: 'invalid_request',
    message: () => 'This is a test run: no credits were moved for it.',
  },
  position_unknown: {
    api: 'invalid_request',
    message: () => 'No response of this service carried this position.',
    details: () => ({
      errors: [{ path: '/headers/Tollgate-Position', message: 'is beyond the end of the log' }],
    }),
  },
  cursor_unknown: {
    api: 'invalid_request',
    message: () => 'No page of this list had this cursor. Omit it for the first page.',
    details: () => ({ errors: [{ path: '/cursor', message: 'is no next_cursor of this list' }] }),
  },
  revision_unknown: {
    api: 'invalid_request',
    message: ({ lastRevision }) => `The last event of the account has the revision ${lastRevision}.`,
    details: ({ lastRevision }) => ({ errors: [{ path: '/at', message: `must be at most ${lastRevision}` }] }),
  },
  time_ahead: {
    api: 'invalid_request',
    message: ({ now }) => `The time is in the future: it is ${now}.`,
    details: () => ({ errors: [{ path: '/at', message: 'must not be in the future' }] }),
  },
  usage_days_invalid: {
    api: 'invalid_request',
    message: ({ maxDays }) => `The period must have 1 to ${maxDays} days: to must be a later day than from.`,
    details: ({ maxDays }) => ({ errors: [{ path: '/to', message: `must be 1 to ${maxDays} days after from` }] }),
  },
  usage_too_large: {
    api: 'invalid_request',
    message: ({ limit }) =>
      [
        `The period has more than ${limit} combinations of day, model, key and label, which is too many to add up.`,
        'Choose a shorter period, add day to group_by, or leave label out of it.',
      ].join(' '),
  },
} satisfies RefusalTable<LedgerRefusals>

const waysToGet = ([offer]: readonly CreditsOffer[] = []): string => {
  if (offer === undefined) return 'ask the operator of the service for credits'
  const credits = fromMicros(offer.creditsMicros + offer.bonusMicros)
  return `buy ${credits} credits for ${offer.amount} ${offer.currency} at ${offer.buyUrl}`
}

export const shownOffer = (offer: CreditsOffer): ShownOffer => ({
  object: 'offer',
  pack: offer.pack ?? null,
  name: offer.name,
  credits: fromMicros(offer.creditsMicros),
  bonus_credits: fromMicros(offer.bonusMicros),
  amount: offer.amount,
  currency: offer.currency,
  valid_days: offer.validDays ?? null,
  buy_url: offer.buyUrl,
})

const grantCommand = ({ accountId, folder }: GrantPlace) =>
  `${placeOf(folder)}npm run -s tollgate -- credits grant ${accountId} 1000 --reason 'to try the service'`

/** The command would open an empty ledger in the default folder if the service has another one. */
const placeOf = (folder: string) => (resolve(folder) === resolve('data') ? '' : `DATA_DIR='${resolve(folder)}' `)
