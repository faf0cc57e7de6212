import { type Static, Type } from 'typebox'
import { Closed, DAY, DEFAULT_USAGE_DAYS, KeyId, Label, MAX_USAGE_DAYS, Slug } from '../primitives.ts'
import { about } from './about.ts'
import { Moment } from './ledger.ts'
import { PageCursor, PageLimit } from './list.ts'

const PART = '(day|model|key|label)'

/** The parts and the place of the last group, which are longest with a label of 64 emoji. */
const UsageCursor = Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: 1400 })

export const UsageQuery = Closed({
  group_by: Type.Optional(
    about(
      Type.String({ pattern: `^${PART}(,${PART}){0,3}$` }),
      'A list of one or more of day, model, key and label, separated by commas. Omit it for one total.',
      'day,model',
    ),
  ),
  from: Type.Optional(
    Moment(`the first day. Usage is counted by UTC days. By default ${DEFAULT_USAGE_DAYS} days before \`to\`.`),
  ),
  to: Type.Optional(
    Moment(`the day after the last one, at most ${MAX_USAGE_DAYS} days after \`from\`. By default tomorrow.`),
  ),
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(UsageCursor)),
})
export type UsageQuery = Static<typeof UsageQuery>

const Day = about(Type.String({ pattern: `^${DAY}$` }), 'A day in UTC.', '2026-11-21')
const Count = Type.Integer({ minimum: 0 })

const orNull = <Shape extends Parameters<typeof about>[0]>(shape: Shape) => Type.Union([shape, Type.Null()])

/** Sums of the runs of a group. */
export const Usage = Closed({
  object: Type.Literal('usage'),
  day: Type.Optional(Day),
  model: Type.Optional(
    about(
      orNull(Slug),
      'The model family. Null for refunds from before their model, key and label were recorded.',
      'nano-banana-2',
    ),
  ),
  key_id: Type.Optional(
    about(
      orNull(KeyId),
      'The ID of the API key that made the runs, also if another key cancelled them. Null if no key made them.',
      'key_01m820ba0efvgrrk8fytq86g1b',
    ),
  ),
  label: Type.Optional(about(orNull(Label), 'The label of the runs. Null for runs without one.', 'spring campaign')),
  runs: about(Count, 'The runs that were charged.', 42),
  failures: about(Count, 'The runs that failed or were cancelled, on the day when they did.', 2),
  credits_charged: about(Type.Number(), 'The credits that were debited.', 420),
  credits_refunded: about(Type.Number(), 'The credits that were refunded, on the day of the refund.', 20),
  credits: about(Type.Number(), 'The difference of the two, negative if more was refunded than charged.', 400),
})
export type Usage = Static<typeof Usage>

export const UsageList = Closed({
  object: Type.Literal('list'),
  data: about(Type.Array(Usage), 'The items in a fixed order: by day, then by label, by model and by key.'),
  has_more: about(Type.Boolean(), 'Whether more items follow.'),
  next_cursor: about(orNull(UsageCursor), 'The `cursor` of the next page; null on the last page.'),
  from: about(Day, 'The first day that is counted.', '2026-11-01'),
  to: about(Day, 'The day after the last one that is counted.', '2026-12-01'),
})
export type UsageList = Static<typeof UsageList>
