import { Command } from 'commander'
import type { Auditor } from '../domain/auditors/auditors.ts'
import { parseAuditorName } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const auditorsCommand = (): Command => {
  const command = new Command('auditors').description('create, list and revoke the keys of auditors')

  command
    .command('create')
    .description('creates a key that reads all accounts under /v1/audit and nothing else; it is shown only once')
    .requiredOption('--name <name>', 'the auditor, as the log names them; at most 64 characters')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const name = parseAuditorName(options.name)
      await withCore(async ({ services }) => {
        const { auditorId, apiKey } = unwrap(await services.auditors.create(caller, name))
        printOne({ auditor_id: auditorId, name, api_key: apiKey }, options)
      })
    })

  command
    .command('list')
    .description('lists auditors by the last four characters of their keys, oldest first')
    .option('--name <name>', 'only auditors with this name')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const all = await withCore(async ({ services }) => unwrap(await services.auditors.list(caller)))
      const found = all.filter(({ name }) => options.name === undefined || name === options.name)
      printMany(found.map(show), options, 'There are no auditors; "tollgate auditors create --name NAME" creates one.')
    })

  command
    .command('revoke [auditor]')
    .description('revokes a key by the id or the name of its auditor; it is refused from then on')
    .option('--name <name>', 'the auditor, instead of its id')
    .option('--json', 'print JSON')
    .action(async (auditor, options, command) => {
      const caller = operatorOf(command)
      const { name } = options
      if ((auditor === undefined) === (name === undefined))
        throw new OperatorError('Name one auditor, by its id or with --name; "tollgate auditors list" shows all.')
      const named = name === undefined ? { auditorId: auditor } : { name }
      const { auditorId } = await withCore(async ({ services }) =>
        unwrap(await services.auditors.revoke(caller, named)),
      )
      printOne({ auditor_id: auditorId, revoked: true }, options)
    })

  return command
}

const show = ({ auditorId, name, lastFour, createdAt, revokedAt }: Auditor): Record<string, unknown> => ({
  auditor_id: auditorId,
  name,
  last_four: lastFour,
  created_at: createdAt,
  revoked_at: revokedAt ?? null,
})
