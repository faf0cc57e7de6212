import { type Static, Type } from 'typebox'
import { Closed, DAY, DEFAULT_USAGE_DAYS, KeyId, Label, MAX_USAGE_DAYS, Slug } from '../primitives.ts'
import { about } from './about.ts'
import { PageCursor, PageLimit } from './list.ts'
import { Moment } from './moment.ts'

const PART = '(day|model|key|label)'

/** The parts of `group_by` and the last group of the page. The longest cursor has a label of 64 emoji. */
const UsageCursor = Type.String({ pattern: '^[A-Za-z0-9_-]+$', maxLength: 1400 })

export const UsageQuery = Closed({
  group_by: Type.Optional(
    about(
      Type.String({ pattern: `^${PART}(,${PART}){0,3}$` }),
      'A list of one or more of day, model, key and label, separated by commas. Omit it for one total.',
      'day,model',
    ),
  ),
  from: Type.Optional(Moment(`The first day to count, in UTC. Default: ${DEFAULT_USAGE_DAYS} days before \`to\`.`)),
  to: Type.Optional(
    Moment(`The day after the last day to count, at most ${MAX_USAGE_DAYS} days after \`from\`. Default: tomorrow.`),
  ),
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(UsageCursor)),
})
export type UsageQuery = Static<typeof UsageQuery>

const Day = about(Type.String({ pattern: `^${DAY}$` }), 'A day in UTC.', '2026-11-21')
const Count = Type.Integer({ minimum: 0 })

const orNull = <Shape extends Parameters<typeof about>[0]>(shape: Shape) => Type.Union([shape, Type.Null()])

/** The totals of a group of runs. */
export const Usage = Closed({
  object: Type.Literal('usage'),
  day: Type.Optional(Day),
  model: Type.Optional(
    about(
      orNull(Slug),
      'The model family. Null for the oldest refunds, which have no model, key and label.',
      'nano-banana-2',
    ),
  ),
  key_id: Type.Optional(
    about(
      orNull(KeyId),
      'The ID of the API key that requested the runs, even if another key cancelled them. Null if no key did.',
      'key_01m820ba0efvgrrk8fytq86g1b',
    ),
  ),
  label: Type.Optional(
    about(orNull(Label), 'The label of the runs. Null for runs without a label.', 'spring campaign'),
  ),
  runs: about(Count, 'The number of charged runs.', 42),
  failures: about(Count, 'The number of runs that failed or were cancelled, counted on the day of the failure.', 2),
  credits_charged: about(Type.Number(), 'The credits that were debited.', 420),
  credits_refunded: about(Type.Number(), 'The credits that were refunded, counted on the day of the refund.', 20),
  credits_released: about(
    Type.Number(),
    'The credits that runs of text models had reserved and did not need, counted on the day that the runs ended.',
    0,
  ),
  credits: about(Type.Number(), 'The credits charged less those refunded and released, which may be negative.', 400),
})
export type Usage = Static<typeof Usage>

export const UsageList = Closed({
  object: Type.Literal('list'),
  data: about(Type.Array(Usage), 'The groups, ordered by day, label, model and key.'),
  has_more: about(Type.Boolean(), 'Whether more items follow.'),
  next_cursor: about(orNull(UsageCursor), 'The `cursor` of the next page; null on the last page.'),
  from: about(Day, 'The first counted day.', '2026-11-01'),
  to: about(Day, 'The day after the last counted day.', '2026-12-01'),
})
export type UsageList = Static<typeof UsageList>
