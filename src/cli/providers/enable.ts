import { Command } from 'commander'
import { checkReason } from '../arguments.ts'
import { operatorOf } from '../operator.ts'
import { printOne } from '../print.ts'
import { unwrap } from '../refusals.ts'
import { withCore } from '../with-core.ts'

export const enableProvider = (): Command =>
  switchProvider('enable', 'lets a provider have jobs again, and ends the waits of its accounts', true)

export const disableProvider = (): Command =>
  switchProvider(
    'disable',
    'gives a provider no more jobs, in every process within a second; those that it has accepted go on',
    false,
  )

const switchProvider = (name: string, description: string, enabled: boolean): Command =>
  new Command(name)
    .argument('<provider>', 'such as openai')
    .description(description)
    .option('--reason <text>', 'why, for those who look later')
    .option('--json', 'print JSON')
    .action(async (provider, options, command) => {
      const caller = operatorOf(command)
      if (options.reason !== undefined) checkReason(options.reason)
      await withCore(async ({ services }) => {
        const { isChange } = unwrap(await services.routing.setProvider(caller, provider, enabled, options.reason))
        printOne({ provider, enabled, changed: isChange }, options)
      })
    })
