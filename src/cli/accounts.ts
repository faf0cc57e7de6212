import { Command } from 'commander'
import type { AccountRow } from '../../schemas/views.ts'
import type { Core } from '../boot/core.ts'
import { fromMicros } from '../domain/money.ts'
import { BY_KEY } from '../ports/view-store.ts'
import { createApiKey } from '../services/accounts/api-keys.ts'
import { register } from '../services/accounts/registration.ts'
import { parseCredits } from './amounts.ts'
import { findAccount } from './find-account.ts'
import { cause, printMany, printOne, withCore } from './run.ts'
import { checkKeyName } from './texts.ts'

/** Rows read at a time. */
const PAGE = 1000

export const accountsCommand = (): Command => {
  const command = new Command('accounts').description('open, list and show accounts')

  command
    .command('open')
    .description('opens an account and creates its first API key, which is shown only now')
    .requiredOption('--email <email>', 'whose account it is; each address has one at the most')
    .option('--credits <number>', 'credits to grant instead of WELCOME_CREDITS')
    .option('--key <name>', 'what to call the key', 'first')
    .option('--tester', 'lets the account see and run test models', false)
    .option('--json', 'print JSON')
    .action(async options => {
      checkKeyName(options.key)
      const opened = await withCore(async core => {
        const { config, accounts } = core
        const welcomeMicros = options.credits ? parseCredits(options.credits, { least: 0 }) : config.welcomeMicros
        const { email, tester } = options
        const accountId = await register(core, { email, tester, welcomeMicros }, cause)
        const { apiKey } = await createApiKey(accounts, config.keyPrefix, { accountId, name: options.key, cause })
        return { account_id: accountId, api_key: apiKey }
      })
      printOne(opened, options)
    })

  command
    .command('list')
    .description('lists all accounts, the oldest first')
    .option('--json', 'print JSON')
    .action(async options => {
      const rows = await withCore(async core => {
        const described: Record<string, unknown>[] = []
        for await (const row of allAccounts(core)) described.push(await describe(core, row))
        return described
      })
      printMany(rows, options, 'There are no accounts yet.')
    })

  command
    .command('show <account>')
    .description('shows an account and the sums of its credits')
    .option('--json', 'print JSON')
    .action(async (name, options) => {
      printOne(await withCore(async core => describe(core, await findAccount(core, name))), options)
    })

  return command
}

async function* allAccounts({ reads }: Core): AsyncGenerator<AccountRow> {
  let after: string | undefined
  while (true) {
    const entries = await reads.list('accounts', BY_KEY, { prefix: '', after, limit: PAGE })
    for (const { row } of entries) yield row
    if (entries.length < PAGE) return
    after = entries.at(-1)?.place
  }
}

const describe = async ({ reads }: Core, row: AccountRow): Promise<Record<string, unknown>> => {
  const balance = await reads.get('balance', row.accountId)
  return {
    account_id: row.accountId,
    email: row.email,
    tester: row.tester,
    opened_at: row.openedAt,
    credits_balance: fromMicros(balance?.balanceMicros ?? 0),
    credits_granted: fromMicros(balance?.grantedMicros ?? 0),
    credits_debited: fromMicros(balance?.debitedMicros ?? 0),
    credits_refunded: fromMicros(balance?.refundedMicros ?? 0),
  }
}
