#!/usr/bin/env node
import { Command } from 'commander'
import { explainFailure } from './boot/failure.ts'
import { accountsCommand } from './cli/accounts.ts'
import { catalogCommand } from './cli/catalog.ts'
import { creditsCommand } from './cli/credits.ts'
import { keysCommand } from './cli/keys.ts'
import { viewsCommand } from './cli/views.ts'
import { webhooksCommand } from './cli/webhooks.ts'

const program = new Command('tollgate')
  .description(
    'The operator’s part of Tollgate. It works on the stores that the environment names, beside a running service.',
  )
  .showHelpAfterError()
  .addCommand(accountsCommand())
  .addCommand(creditsCommand())
  .addCommand(keysCommand())
  .addCommand(catalogCommand())
  .addCommand(webhooksCommand())
  .addCommand(viewsCommand())

program.parseAsync().then(
  // A connection attempt to a store that drops packets would keep the process alive for minutes.
  () => process.exit(),
  error => {
    console.error(explainFailure(error))
    process.exit(1)
  },
)
