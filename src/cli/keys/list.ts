import { Command } from 'commander'
import { scopeOf } from '../../domain/account/keys.ts'
import { minuteText } from '../../domain/days.ts'
import { fromMicros } from '../../domain/money.ts'
import type { KeyInfo } from '../../services/accounts/api-keys.ts'
import { dayOf, wrapped } from '../audit/text.ts'
import { toColumns } from '../columns.ts'
import { operatorOf } from '../operator.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

export const listKeys = (): Command =>
  new Command('list')
    .argument('<account>')
    .description('list the API keys of an account with their last four characters and limits, oldest first')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const keys = await withCore(async ({ services }) => unwrap(await services.keys.list(caller, account)))
      const shown = keys.map(show)
      if (options.json) console.log(JSON.stringify(shown))
      else if (shown.length === 0) console.log(NONE)
      else console.log(toColumns(shown.map(rowOf), { head: ['key', 'state', 'limits'] }))
    })

const NONE = 'The account has no keys; "tollgate keys create ACCOUNT" creates one.'

type Shown = ReturnType<typeof show>

const show = (key: KeyInfo) => ({
  key_id: key.keyId,
  name: key.name,
  scope: scopeOf(key),
  livemode: key.livemode !== false,
  last_four: key.lastFour,
  created_at: key.createdAt,
  created_by: key.createdBy,
  expires_at: key.expiresAt ?? null,
  last_used_at: key.lastUsedAt ?? null,
  revoked_at: key.revokedAt ?? null,
  budget: key.budget ? budgetOf(key.budget, key.spending) : null,
  models: key.models ?? null,
  addresses: key.addresses ?? null,
})

const budgetOf = ({ amountMicros, period }: NonNullable<KeyInfo['budget']>, spending: KeyInfo['spending']) => ({
  credits: fromMicros(amountMicros),
  period,
  spent_credits: spending ? fromMicros(spending.spentMicros) : null,
  renews_at: spending?.renewsAt ?? null,
})

/** The width of a key's id. */
const NAME_WIDTH = 30

/** With it, the table has at most 80 columns. */
const LIMITS_WIDTH = 28

const rowOf = ({
  key_id,
  name,
  last_four,
  scope,
  livemode,
  created_at,
  created_by,
  last_used_at,
  revoked_at,
  ...limits
}: Shown) => [
  `${key_id}\n${wrapped(`${name} (…${last_four})`, NAME_WIDTH)}`,
  [
    livemode ? scope : `${scope}, test`,
    `created ${dayOf(created_at)}`,
    `by ${created_by}`,
    ...(last_used_at === null ? [] : [`used ${dayOf(last_used_at)}`]),
    ...(revoked_at === null ? [] : [`revoked ${dayOf(revoked_at)}`]),
  ].join('\n'),
  limitsOf(limits)
    .map(line => wrapped(line, LIMITS_WIDTH))
    .join('\n') || '–',
]

const limitsOf = ({
  expires_at,
  budget,
  models,
  addresses,
}: Pick<Shown, 'expires_at' | 'budget' | 'models' | 'addresses'>): string[] => [
  ...(expires_at === null
    ? []
    : [`${Date.parse(expires_at) > Date.now() ? 'expires' : 'expired'} ${minuteText(expires_at)}`]),
  ...(budget === null ? [] : [budgetText(budget)]),
  ...(models === null ? [] : [`models: ${models.join(', ')}`]),
  ...(addresses === null ? [] : [`addresses: ${addresses.join(', ')}`]),
]

const budgetText = ({ credits, period, spent_credits }: NonNullable<Shown['budget']>) =>
  spent_credits === null
    ? `${credits} credits a ${period}`
    : `${spent_credits} of ${credits} credits spent this ${period}`
