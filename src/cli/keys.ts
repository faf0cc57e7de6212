import { Command } from 'commander'
import type { KeyId } from '../../schemas/primitives.ts'
import { createApiKey } from '../services/accounts/api-keys.ts'
import { OperatorError } from '../services/operator-error.ts'
import { findAccount } from './find-account.ts'
import { cause, printMany, printOne, withCore } from './run.ts'
import { checkKeyName } from './texts.ts'

/** Keys shown of one account; revoked ones stay in the list, so it has no other bound. */
const MAX_SHOWN = 10_000

export const keysCommand = (): Command => {
  const command = new Command('keys').description('create, list and revoke API keys')

  command
    .command('create <account>')
    .description('creates a key, which is shown only now')
    .option('--name <name>', 'what to call it; at most 100 characters', 'key')
    .option('--json', 'print JSON')
    .action(async (account, options) => {
      const { name } = options
      checkKeyName(name)
      const created = await withCore(async core => {
        const { accountId } = await findAccount(core, account)
        const { keyId, apiKey } = await createApiKey(core.accounts, core.config.keyPrefix, { accountId, name, cause })
        return { account_id: accountId, key_id: keyId, api_key: apiKey }
      })
      printOne(created, options)
    })

  command
    .command('list <account>')
    .description('lists an account’s keys by their last four characters, the oldest first')
    .option('--json', 'print JSON')
    .action(async (account, options) => {
      const rows = await withCore(async core => {
        const { accountId } = await findAccount(core, account)
        const entries = await core.reads.list('keys', 'byAccount', { prefix: `${accountId}/`, limit: MAX_SHOWN })
        return entries.map(({ row }) => ({
          key_id: row.keyId,
          name: row.name,
          last_four: row.lastFour,
          created_at: row.createdAt,
          revoked_at: row.revokedAt ?? null,
        }))
      })
      printMany(rows, options, 'The account has no keys; "tollgate keys create ACCOUNT" makes one.')
    })

  command
    .command('revoke <account> <key>')
    .description('revokes a key, given by its id; it is refused from then on')
    .option('--json', 'print JSON')
    .action(async (account, key, options) => {
      const revoked = await withCore(async core => {
        const { accountId } = await findAccount(core, account)
        const outcome = await core.accounts.execute(accountId, { type: 'RevokeApiKey', keyId: key as KeyId }, cause)
        if ('refuse' in outcome) throw OperatorError.of(outcome.refuse)
        return { account_id: accountId, key_id: key, revoked: true }
      })
      printOne(revoked, options)
    })

  return command
}
