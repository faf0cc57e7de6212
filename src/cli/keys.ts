import { Command, Option } from 'commander'
import { KEY_SCOPES } from '../../schemas/actor.ts'
import { parseKeyName } from './arguments.ts'
import { parseKeyLimits } from './keys/limits.ts'
import { listKeys } from './keys/list.ts'
import { operatorOf } from './operator.ts'
import { printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const keysCommand = (): Command => {
  const command = new Command('keys').description('create, list and revoke API keys')

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
      // Once this is printed, the key no longer works, so the views come first.
      await withCore(async ({ services }) => unwrap(await services.keys.revoke(caller, account, key)))
      printOne({ account_id: account, key_id: key, revoked: true }, options)
    })

  return command
}
