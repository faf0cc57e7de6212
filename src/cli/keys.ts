import { Command, Option } from 'commander'
import { KEY_SCOPES } from '../../schemas/actor.ts'
import { scopeOf } from '../domain/account/keys.ts'
import { checkKeyName } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const keysCommand = (): Command => {
  const command = new Command('keys').description('create, list and revoke API keys')

  command
    .command('create <account>')
    .description('creates a key, which is shown only once')
    .option('--name <name>', 'the name of the key; at most 100 characters', 'key')
    .addOption(
      new Option(
        '--scope <scope>',
        'full: everything except managing keys; read: only reading; keys: only managing keys',
      )
        .choices(KEY_SCOPES)
        .default('full'),
    )
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const { name, scope } = options
      checkKeyName(name)
      await withCore(async ({ services }) => {
        const { keyId, apiKey } = unwrap(await services.keys.create(caller, account, { name, scope }))
        printOne({ account_id: account, key_id: keyId, scope, api_key: apiKey }, options)
      })
    })

  command
    .command('list <account>')
    .description('lists an account’s keys by their last four characters, oldest first')
    .option('--json', 'print JSON')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const rows = await withCore(async ({ services }) => unwrap(await services.keys.list(caller, account)))
      const shown = rows.map(row => ({
        key_id: row.keyId,
        name: row.name,
        scope: scopeOf(row),
        last_four: row.lastFour,
        created_at: row.createdAt,
        revoked_at: row.revokedAt ?? null,
      }))
      printMany(shown, options, 'The account has no keys; "tollgate keys create ACCOUNT" creates one.')
    })

  command
    .command('revoke <account> <key>')
    .description('revokes a key by its id; it is refused from then on')
    .option('--json', 'print JSON')
    .action(async (account, key, options, command) => {
      const caller = operatorOf(command)
      // Once this is printed, the key no longer works, so the views come first.
      await withCore(async ({ services }) => unwrap(await services.keys.revoke(caller, account, key)))
      printOne({ account_id: account, key_id: key, revoked: true }, options)
    })

  return command
}
