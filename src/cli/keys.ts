import { Command, Option } from 'commander'
import { BUDGET_PERIODS, type BudgetPeriod, type KeyLimits } from '../../schemas/account-events.ts'
import { KEY_SCOPES } from '../../schemas/actor.ts'
import { MAX_KEY_ADDRESSES, MAX_KEY_MODELS } from '../../schemas/primitives.ts'
import { scopeOf } from '../domain/account/keys.ts'
import { minuteText } from '../domain/days.ts'
import { fromMicros } from '../domain/money.ts'
import type { KeyInfo } from '../services/accounts/api-keys.ts'
import { parseCredits, parseExpiry, parseKeyName } from './arguments.ts'
import { dayOf, wrapped } from './audit/text.ts'
import { toColumns } from './columns.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const keysCommand = (): Command => {
  const command = new Command('keys')

  command
    .command('create <account>')
    .description('create an API key, which is shown only once')
    .option('--name <name>', 'name of the key; at most 64 characters', 'key')
    .addOption(
      new Option(
        '--scope <scope>',
        'full: all requests except key management; read: read-only; keys: only key management',
      )
        .choices(KEY_SCOPES)
        .default('full'),
    )
    .option('--test', 'create a test key, whose runs go to the sandbox and cost nothing')
    .option('--expires <time>', 'date or time in UTC at which the key expires, such as 2027-01-01')
    .option(
      '--budget <credits/period>',
      'credits that the key can spend per day, week or month in UTC, such as 50/month',
    )
    .option('--models <ids>', 'models that the key can run: IDs of families or endpoints, separated by commas')
    .option('--addresses <ranges>', 'IP addresses and CIDR ranges that can use the key, separated by commas')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const { scope } = options
      const mode = options.test ? ({ livemode: false } as const) : {}
      const name = parseKeyName(options.name)
      const limits = parseKeyLimits(options)
      await withCore(async ({ services }) => {
        const { keyId, apiKey } = unwrap(
          await services.keys.create(caller, account, { name, scope, ...mode, ...limits }),
        )
        printOne({ account_id: account, key_id: keyId, scope, livemode: !options.test, api_key: apiKey }, options)
      })
    })

  command.addCommand(listKeys())

  command
    .command('revoke <account> <key>')
    .description('revoke an API key by ID; the key stops working')
    .option('--json', 'print JSON')
    .action(async (account, key, options, command) => {
      const caller = operatorOf(command)
      // The command waits for the views before it prints, so the key no longer works once this is printed.
      await withCore(async ({ services }) => unwrap(await services.keys.revoke(caller, account, key)))
      printOne({ account_id: account, key_id: key, revoked: true }, options)
    })

  return command
}

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

const NAME_WIDTH = 30

/** The table has at most 80 columns. */
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

interface LimitOptions {
  expires?: string
  budget?: string
  models?: string
  addresses?: string
}

/** The limits of a new key. Throws OperatorError for an invalid option. */
const parseKeyLimits = ({ expires, budget, models, addresses }: LimitOptions): KeyLimits => ({
  ...(expires !== undefined && { expiresAt: parseExpiry(expires) }),
  ...(budget !== undefined && { budget: parseBudget(budget) }),
  ...(models !== undefined && { models: parseList('models', models, MAX_KEY_MODELS) }),
  ...(addresses !== undefined && { addresses: parseList('addresses', addresses, MAX_KEY_ADDRESSES) }),
})

const parseBudget = (text: string): NonNullable<KeyLimits['budget']> => {
  const [amount = '', period = '', ...rest] = text.split('/')
  if (!isPeriod(period) || rest.length > 0)
    throw new OperatorError(
      `${JSON.stringify(text)} is not a budget: write credits and ${BUDGET_PERIODS.join(', ')}, such as 50/month.`,
    )
  return { amountMicros: parseCredits(amount, { least: 1 }), period }
}

const isPeriod = (text: string): text is BudgetPeriod => (BUDGET_PERIODS as readonly string[]).includes(text)

const parseList = (what: string, text: string, limit: number): string[] => {
  const items = text.split(',').map(item => item.trim())
  if (items.length > limit) throw new OperatorError(`A key can be restricted to at most ${limit} ${what}.`)
  return items
}
