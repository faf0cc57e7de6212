import { type Static, Type } from 'typebox'
import { GRANT_KINDS, Payment as RecordedPayment } from '../account-events.ts'
import { Closed, KeyId, Label, LEDGER_KINDS, OneOf, RunId, Slug, Timestamp, Uuid } from '../primitives.ts'
import { about } from './about.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'
import { MOMENT, Moment } from './moment.ts'
import { QuoteLine } from './run.ts'

export const LedgerKind = about(
  OneOf(...LEDGER_KINDS),
  [
    '`grant`: credits were added. `withdrawal`: granted credits were taken back. `debit`: a run was charged.',
    '`refund`: credits of a run were returned. `release`: a run of a text model cost less than it could have.',
    '`expiry`: granted credits were not used in time.',
  ].join(' '),
)

const REVISION = '(0|[1-9][0-9]{0,8})'

const period = {
  from: Type.Optional(Moment('Returns only lines of this time or later.')),
  to: Type.Optional(Moment('Returns only lines before this time.')),
}

export const ExportQuery = Closed(period)

/** The revision of a line as text. */
const LedgerCursor = Type.String({ pattern: `^${REVISION}$` })

export const LedgerQuery = Closed({
  ...period,
  kind: Type.Optional(about(LedgerKind, 'Only lines of this kind.')),
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(LedgerCursor)),
})
export type LedgerQuery = Static<typeof LedgerQuery>

export const BalanceQuery = Closed({
  at: Type.Optional(
    about(
      Type.String({ pattern: `^(${MOMENT}|${REVISION})$` }),
      [
        'A UTC time such as 2026-11-23T18:00:00Z, a date for the start of that day in UTC, or the revision of an event',
        'of the account. Returns the balance at that moment, with all events up to that moment.',
      ].join(' '),
      '2026-11-01',
    ),
  ),
})

const Payment = about(RecordedPayment, 'The money that was paid for the credits, and its invoice.', {
  amount: '25.00',
  currency: 'EUR',
  invoice: '2026-17',
})

/** A line of the ledger: one movement of credits. */
export const LedgerLine = Closed({
  object: Type.Literal('ledger_line'),
  event_id: about(Uuid, 'The ID of the event in the log.', '8294a5b6-c7d8-4e9f-8a1b-2c3d4e5f6071'),
  revision: about(
    Type.Integer({ minimum: 0 }),
    'The number of the event among all events of the account. Events that move no credits leave gaps.',
    3,
  ),
  created_at: about(Timestamp, 'When the credits moved.'),
  kind: LedgerKind,
  credits: about(Type.Number(), 'The change of the balance: negative for debits and withdrawals.', -31.5),
  credits_balance: about(Type.Number(), 'The balance after the change.', 68.5),
  run_id: Type.Optional(about(RunId, 'The run that was charged or refunded.')),
  model: Type.Optional(about(Slug, 'The model family of the run.', 'nano-banana-2')),
  endpoint: Type.Optional(about(Slug, 'The endpoint of the run.', 'nano-banana-2-t2i')),
  lines: Type.Optional(
    about(
      Type.Array(QuoteLine),
      'The price of a debit, or the final price of a run: base × quantities × multipliers + tokens + surcharges.',
    ),
  ),
  grant_kind: Type.Optional(about(OneOf(...GRANT_KINDS), 'Why credits were granted or withdrawn.')),
  reference: Type.Optional(about(Type.String(), 'The reference of a grant or withdrawal.', 'invoice 2026-17')),
  reason: Type.Optional(about(Type.String(), 'The reason for a grant, withdrawal or refund.', 'paid by card')),
  payment: Type.Optional(Payment),
  lot: Type.Optional(
    about(Type.Integer({ minimum: 1 }), 'The number of the grant: the first is 1. Missing from old grants.', 3),
  ),
  expires_at: Type.Optional(about(Timestamp, 'When granted credits expire; missing if never.')),
  key_id: Type.Optional(about(KeyId, 'The ID of the API key that caused the line.', 'key_01m820ba0efvgrrk8fytq86g1b')),
  label: Type.Optional(about(Label, 'The label of the run.', 'spring campaign')),
  budget: Type.Optional(about(Label, 'The named budget that the run was charged to.', 'customer 17')),
})
export type LedgerLine = Static<typeof LedgerLine>

export const LedgerList = ListOf(LedgerLine, LedgerCursor)
export type LedgerList = Static<typeof LedgerList>

export const LedgerExport = about(Type.String(), 'One ledger line as JSON per line of text.')
