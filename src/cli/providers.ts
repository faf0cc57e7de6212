import { Command } from 'commander'
import { checkCommand } from './providers/check.ts'
import { disableProvider, enableProvider } from './providers/enable.ts'
import { listProviders } from './providers/list.ts'
import { marginCommand } from './providers/margin.ts'
import { statementCommand } from './providers/statement.ts'

export const providersCommand = (): Command =>
  new Command('providers')
    .description('show, check, enable and disable providers, and report their costs')
    .addCommand(listProviders())
    .addCommand(checkCommand())
    .addCommand(enableProvider())
    .addCommand(disableProvider())
    .addCommand(marginCommand())
    .addCommand(statementCommand())
