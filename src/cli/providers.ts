import { Command } from 'commander'
import { checkReason } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { printOne } from './print.ts'
import { checkCommand } from './providers/check.ts'
import { marginCommand, statementCommand } from './providers/costs.ts'
import { listProviders } from './providers/list.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const providersCommand = (): Command =>
  new Command('providers')
    .addCommand(listProviders())
    .addCommand(checkCommand())
    .addCommand(enableProvider())
    .addCommand(disableProvider())
    .addCommand(marginCommand())
    .addCommand(statementCommand())

const enableProvider = (): Command =>
  switchProvider('enable', 'send jobs to a provider again, and close the circuit breakers of its accounts', true)

const disableProvider = (): Command =>
  switchProvider(
    'disable',
    'stop sending jobs to a provider, in every process within a second; accepted jobs continue',
    false,
  )

const switchProvider = (name: string, description: string, enabled: boolean): Command =>
  new Command(name)
    .argument('<provider>', 'provider, such as openai')
    .description(description)
    .option('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .option('--json', 'print JSON')
    .action(async (provider, options, command) => {
      const caller = operatorOf(command)
      if (options.reason !== undefined) checkReason(options.reason)
      await withCore(async ({ services }) => {
        const { isChange } = unwrap(await services.routing.setProvider(caller, provider, enabled, options.reason))
        printOne({ provider, enabled, changed: isChange }, options)
      })
    })
