import { Command } from 'commander'
import type { Auditor } from '../domain/auditors/auditors.ts'
import { parseAuditorName } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const auditorsCommand = (): Command => {
  const command = new Command('auditors')

  command
    .command('create')
    .description('create a key that can only read all accounts under /v1/audit; the key is shown only once')
    .requiredOption('--name <name>', 'name of the auditor, recorded in the log; at most 64 characters')
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
    .description('list auditors and the last four characters of their keys, oldest first')
    .option('--name <name>', 'show only auditors with this name')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const all = await withCore(async ({ services }) => unwrap(await services.auditors.list(caller)))
      const found = all.filter(({ name }) => options.name === undefined || name === options.name)
      printMany(found.map(show), options, 'There are no auditors; "tollgate auditors create --name NAME" creates one.')
    })

  command
    .command('revoke [auditor]')
    .description('revoke the key of an auditor, by ID or name; the key stops working')
    .option('--name <name>', 'name of the auditor, in place of the ID')
    .option('--json', 'print JSON')
    .action(async (auditor, options, command) => {
      const caller = operatorOf(command)
      const { name } = options
      if ((auditor === undefined) === (name === undefined))
        throw new OperatorError('Name one auditor, by ID or with --name; "tollgate auditors list" shows all.')
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
