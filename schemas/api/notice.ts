import { type Static, Type } from 'typebox'
import { Closed, MAX_GRANT_MICROS, PurchaseId, Slug, Tagged, Url } from '../primitives.ts'
import { Money } from '../purchase-events.ts'
import { about } from './about.ts'
import { Timestamp } from './common.ts'
import { KeyId } from './key.ts'

const settings = {
  email: about(Type.Boolean(), 'Whether notices are sent by mail.', true),
  url: about(Url, 'The URL that receives notices as webhooks.', 'https://example.com/hooks/tollgate'),
  balance_under_credits: about(
    Type.Number({ minimum: 0, maximum: MAX_GRANT_MICROS / 1_000_000 }),
    [
      'You get a notice when the balance drops below this, and another after it recovers and drops again.',
      'Up to six decimals; 0 turns these notices off.',
    ].join(' '),
    10,
  ),
}

export const NewNoticeSettings = Closed({
  email: Type.Optional(Type.Unsafe<boolean>({ ...settings.email, default: true })),
  email_address: Type.Optional(
    about(
      Type.String({ maxLength: 254 }),
      'The address that receives mail. It must be linked to the account. Default: the first linked address.',
      'ada@example.com',
    ),
  ),
  url: Type.Optional(settings.url),
  balance_under_credits: Type.Optional(Type.Unsafe<number>({ ...settings.balance_under_credits, default: 10 })),
})
export type NewNoticeSettings = Static<typeof NewNoticeSettings>

export const NoticeSettings = Closed({
  object: Type.Literal('notice_settings'),
  email: settings.email,
  email_address: Type.Optional(
    about(
      Type.String(),
      'The address that receives mail. Absent if no address is linked to the account.',
      'ada@example.com',
    ),
  ),
  url: Type.Optional(settings.url),
  balance_under_credits: settings.balance_under_credits,
})
export type NoticeSettings = Static<typeof NoticeSettings>

/** The body of the webhook about a low balance. */
export const BalanceLowEvent = Closed({
  type: Type.Literal('balance.low'),
  timestamp: about(Timestamp, 'When the balance dropped.'),
  data: Closed({
    credits_balance: about(Type.Number(), 'The balance after the drop.', 8.5),
    under_credits: about(Type.Number(), 'The limit that the balance dropped below.', 10),
  }),
})

const budgetUse = {
  timestamp: about(Timestamp, 'When the key spent the credits.'),
  data: Closed({
    key_id: KeyId,
    budget_credits: about(Type.Number(), 'The budget for each period.', 50),
    spent_credits: about(Type.Number(), 'The credits that the key had spent in the period.', 40),
    renews_at: about(Timestamp, 'When the next period begins.', '2026-12-01T00:00:00.000Z'),
  }),
}

export const BudgetWarningEvent = Closed({ type: Type.Literal('budget.warning'), ...budgetUse })
export const BudgetExhaustedEvent = Closed({ type: Type.Literal('budget.exhausted'), ...budgetUse })

export const KeyExpiringEvent = Closed({
  type: Type.Literal('key.expiring'),
  timestamp: about(Timestamp, 'When the notice was raised.'),
  data: Closed({ key_id: KeyId, expires_at: about(Timestamp, 'When the key expires.') }),
})

export const CreditsExpiringEvent = Closed({
  type: Type.Literal('credits.expiring'),
  timestamp: about(Timestamp, 'When the notice was raised.'),
  data: Closed({
    lot: about(Type.Integer({ minimum: 1 }), 'The number of the grant whose credits expire.', 3),
    credits: about(Type.Number(), 'The credits that are left of it.', 120),
    expires_at: about(Timestamp, 'When they expire.'),
  }),
})

export const TopUpStoppedEvent = Closed({
  type: Type.Literal('top_up.stopped'),
  timestamp: about(Timestamp, 'When the last payment failed.'),
  data: Closed({ code: about(Type.String(), 'Why the last payment failed.', 'insufficient_funds') }),
})

export const ModelRetiringEvent = Closed({
  type: Type.Literal('model.retiring'),
  timestamp: about(Timestamp, 'When the notice was raised.'),
  data: Closed({
    model: about(Slug, 'A model family that the account has used in the last 30 days.', 'gemini-3-flash'),
    endpoints: about(Type.Array(Slug), 'The endpoints of the family that retire.', ['gemini-3-flash-t2t']),
    retires_at: about(
      Timestamp,
      'When the endpoints retire. The service then refuses their runs.',
      '2027-01-06T00:00:00.000Z',
    ),
    replaced_by: Type.Optional(about(Slug, 'The family that replaces the model.', 'gemini-4-flash')),
  }),
})

export const WithdrawalReceivedEvent = Closed({
  type: Type.Literal('withdrawal.received'),
  timestamp: about(Timestamp, 'When the notice was raised.'),
  data: Closed({
    purchase_id: PurchaseId,
    declared_at: about(Timestamp, 'When the owner withdrew from the contract about the purchase.'),
    refund: about(Money, 'What is paid back.', { amount: '12.38', currency: 'EUR' }),
  }),
})

/** The body of a webhook about a notice. */
export const NoticeEvent = Tagged(
  'type',
  BalanceLowEvent,
  BudgetWarningEvent,
  BudgetExhaustedEvent,
  KeyExpiringEvent,
  CreditsExpiringEvent,
  TopUpStoppedEvent,
  ModelRetiringEvent,
  WithdrawalReceivedEvent,
)
export type NoticeEvent = Static<typeof NoticeEvent>
