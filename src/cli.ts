#!/usr/bin/env node
import { Command } from 'commander'
import { explainFailure } from './boot/failure.ts'
import { accountsCommand } from './cli/accounts.ts'
import { auditCommand } from './cli/audit.ts'
import { catalogCommand } from './cli/catalog.ts'
import { creditsCommand } from './cli/credits.ts'
import { keysCommand } from './cli/keys.ts'
import { parseOperator } from './cli/operator.ts'
import { OperatorError } from './cli/operator-error.ts'
import { runsCommand } from './cli/runs.ts'
import { viewsCommand } from './cli/views.ts'
import { webhooksCommand } from './cli/webhooks.ts'

const program = new Command('tollgate')
  .description(
    'Operates Tollgate. Commands work on the stores that the environment names, also while the service runs.',
  )
  .option('--as <name>', 'the operator that the log records; the system user by default', parseOperator)
  .showHelpAfterError()
  .addCommand(accountsCommand())
  .addCommand(creditsCommand())
  .addCommand(keysCommand())
  .addCommand(runsCommand())
  .addCommand(catalogCommand())
  .addCommand(webhooksCommand())
  .addCommand(viewsCommand())
  .addCommand(auditCommand())

/** Shows the options of the program, such as --as, in the help of every command. */
const showGlobalOptions = (command: Command) => {
  command.configureHelp({ showGlobalOptions: true })
  command.commands.forEach(showGlobalOptions)
}
showGlobalOptions(program)

program.parseAsync().then(
  // A connection attempt to a store that drops packets would keep the process alive for minutes.
  () => process.exit(),
  error => {
    const isExpected = error instanceof OperatorError
    console.error(isExpected ? error.message : explainFailure(error))
    process.exit(isExpected ? error.exitCode : 1)
  },
)
