import { type Static, Type } from 'typebox'
import { BUDGET_PERIODS } from '../account-events.ts'
import { KEY_SCOPES } from '../actor.ts'
import { Line } from '../names.ts'
import * as primitives from '../primitives.ts'
import {
  Closed,
  MAX_GRANT_MICROS,
  MAX_KEY_ADDRESSES,
  MAX_KEY_MODELS,
  MAX_NAME_LENGTH,
  MAX_RECORDED_NAME_LENGTH,
  OneOf,
} from '../primitives.ts'
import { about } from './about.ts'
import { Timestamp } from './common.ts'
import { ListOf, PageCursor, PageLimit } from './list.ts'
import { ModelName } from './model.ts'
import { Moment } from './moment.ts'

export const KeyId = about(primitives.KeyId, 'The ID of an API key.', 'key_01m7z4hp3ye9bv5nfwqzm2r6ja')

const KeyMode = about(
  Type.Boolean(),
  [
    '`false` for a test key, `tg_sk_test_…`: the sandbox does its runs, they cost nothing, and only test keys',
    'see them.',
  ].join(' '),
)

/** Only printable characters, so that a name cannot hide or break a line of a list. */
const Name = about(
  Line(MAX_NAME_LENGTH),
  `The name of the key, in up to ${MAX_NAME_LENGTH} printable characters.`,
  'website',
)

export const Scope = about(
  OneOf(...KEY_SCOPES),
  [
    '`full`: everything except managing keys. `read`: only reading, except for the webhook secret.',
    '`keys`: only managing keys.',
  ].join(' '),
)

const BudgetPeriod = about(
  OneOf(...BUDGET_PERIODS),
  'The calendar period of the budget, in UTC. Weeks begin on Monday.',
)

/** The credits that a key may spend. The maximum is the same as for a grant. */
const budget = {
  credits: about(
    Type.Number({ exclusiveMinimum: 0, maximum: MAX_GRANT_MICROS / 1_000_000 }),
    'The credits that the key may spend in each period, with up to six decimals.',
    50,
  ),
  period: BudgetPeriod,
}

export const NewKey = Closed({
  name: Name,
  livemode: Type.Optional(
    about(
      Type.Boolean(),
      '`false` creates a test key, which has no budget. Default: `true`. Test keys must set `false`.',
    ),
  ),
  scope: Type.Optional(about(Scope, 'What the key may do: `full` by default. A key cannot create a `keys` key.')),
  expires_at: Type.Optional(Moment('When the key expires. A key that expires creates only keys that expire no later.')),
  budget: Type.Optional(
    about(Closed(budget), 'The most that the key may spend. Without a budget, the key may spend the whole balance.'),
  ),
  models: Type.Optional(
    about(
      Type.Array(ModelName, { minItems: 1, maxItems: MAX_KEY_MODELS }),
      'The models that the key may run: IDs of families, or of single endpoints. All by default.',
      ['nano-banana-2', 'gpt-6-1-terra'],
    ),
  ),
  addresses: Type.Optional(
    about(
      Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { minItems: 1, maxItems: MAX_KEY_ADDRESSES }),
      'The IP addresses and CIDR ranges that the key may be used from. All by default.',
      ['203.0.113.7', '2001:db8::/32'],
    ),
  ),
})
export type NewKey = Static<typeof NewKey>

const KeyBudget = Closed({
  ...budget,
  spent_credits: Type.Optional(
    about(
      Type.Number(),
      'The credits that the key has spent in this period, less refunds. Absent once the key is revoked.',
      12.5,
    ),
  ),
  credits_left: Type.Optional(about(Type.Number(), 'The credits that the key may still spend in this period.', 37.5)),
  renews_at: Type.Optional(about(Timestamp, 'When the next period begins.', '2026-12-01T00:00:00.000Z')),
})

const key = {
  object: Type.Literal('api_key'),
  id: KeyId,
  name: about(Line(MAX_RECORDED_NAME_LENGTH), 'The name of the key.', 'website'),
  livemode: KeyMode,
  scope: Scope,
  last_four: about(Type.String(), 'The last four characters of the key.', '9f3c'),
  created_at: Timestamp,
  created_by: about(
    Type.String(),
    'The creator of the key: the ID of another key, `owner` for a person who was signed in, `operator`, or `service`.',
    'owner',
  ),
  expires_at: Type.Optional(about(Timestamp, 'When the key expires.')),
  last_used_at: Type.Optional(
    about(Timestamp, 'The first request on the most recent day of use, in UTC. Absent before the first use.'),
  ),
  revoked_at: Type.Optional(about(Timestamp, 'When the key was revoked.')),
  budget: Type.Optional(KeyBudget),
  models: Type.Optional(
    about(Type.Array(ModelName), 'The models that the key may run. Absent if it may run all models.'),
  ),
  addresses: Type.Optional(
    about(
      Type.Array(Type.String()),
      'The CIDR ranges that the key may be used from. Absent if the key works from all addresses.',
      ['203.0.113.7/32'],
    ),
  ),
}

export const ApiKey = Closed(key)
export type ApiKey = Static<typeof ApiKey>

const limitPair = (unit: string, examples: { key: number; account: number }) =>
  about(
    Closed({ key: Type.Optional(Type.Integer()), account: Type.Optional(Type.Integer()) }),
    `The maximum number of ${unit}: of this key, and of all callers of the account together. Absent without a limit.`,
    examples,
  )

export const OwnKey = Closed({
  ...key,
  limits: Closed({
    requests_per_minute: limitPair('requests per minute', { key: 6000, account: 12_000 }),
    runs_in_flight: limitPair('open runs', { key: 5000, account: 10_000 }),
  }),
})
export type OwnKey = Static<typeof OwnKey>

export const CreatedKey = Closed({
  ...key,
  api_key: about(
    Type.String(),
    'The key. Only this response shows it: keep it in a secret manager.',
    'tg_sk_live_5f0c8d2be7a94c6f8b1d3e5a7c9f9f3c',
  ),
})
export type CreatedKey = Static<typeof CreatedKey>

export const KeysQuery = Closed({
  limit: Type.Optional(PageLimit),
  cursor: Type.Optional(PageCursor(primitives.KeyId)),
})

export const KeyList = ListOf(ApiKey, primitives.KeyId)
export type KeyList = Static<typeof KeyList>

export const RevokedKey = Closed({ object: Type.Literal('api_key'), id: KeyId, revoked: Type.Literal(true) })
export type RevokedKey = Static<typeof RevokedKey>
