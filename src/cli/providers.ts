import { Command } from 'commander'
import { marginCommand } from './providers/margin.ts'
import { statementCommand } from './providers/statement.ts'

export const providersCommand = (): Command =>
  new Command('providers')
    .description('what the vendors that run models cost, and what is left')
    .addCommand(marginCommand())
    .addCommand(statementCommand())
