import { Command, CommanderError } from 'commander'
import { explainFailure } from '../boot/process.ts'
import { visible } from '../domain/visible-text.ts'
import { accountsCommand } from './accounts.ts'
import { UNABLE } from './audit/with-log.ts'
import { auditCommand } from './audit.ts'
import { auditorsCommand } from './auditors.ts'
import { backupCommand, restoreCommand } from './backup.ts'
import { bindingsCommand } from './bindings.ts'
import { catalogCommand } from './catalog.ts'
import { creditsCommand } from './credits.ts'
import { keysCommand } from './keys.ts'
import { logCommand } from './log.ts'
import { parseOperator } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { periodCommand } from './period.ts'
import { providersCommand } from './providers.ts'
import { runsCommand } from './runs.ts'
import { viewsCommand } from './views.ts'
import { webhooksCommand } from './webhooks.ts'

// Customers and vendors choose names, reasons and messages, so texts for people are escaped.
for (const name of ['log', 'error'] as const) {
  const print = console[name].bind(console)
  console[name] = (...texts: unknown[]) =>
    print(...texts.map(text => (typeof text === 'string' ? visible(text) : text)))
}

/** Runs a command. Resolves to the exit code of the process. */
export const runProgram = async (args: string[]): Promise<number> => {
  const program = createProgram()
  try {
    await program.parseAsync(args, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    // Commander has printed its own errors.
    if (error instanceof CommanderError) return error.exitCode
    const isExpected = error instanceof OperatorError
    console.error(isExpected ? error.message : explainFailure(error))
    return isExpected ? error.exitCode : failureOf(program.args[0])
  }
}

/** An audit exits with 1 only for a fault in the log, so other failures of an audit have another code. */
const failureOf = (command: string | undefined): number => (command === 'audit' ? UNABLE : FAILED)

/** The commands. `docs/cli.md` is generated from them. */
export const createProgram = (): Command => {
  const program = new Command('tollgate')
    .description(
      'Operate Tollgate. Commands use the stores configured in the environment, and can run while the service runs.',
    )
    .option('--as <name>', 'name of the operator, recorded in the log (default: the system user)', parseOperator)
    .showHelpAfterError()
    .addCommand(accountsCommand())
    .addCommand(creditsCommand())
    .addCommand(keysCommand())
    .addCommand(auditorsCommand())
    .addCommand(runsCommand())
    .addCommand(catalogCommand())
    .addCommand(providersCommand())
    .addCommand(bindingsCommand())
    .addCommand(webhooksCommand())
    .addCommand(viewsCommand())
    .addCommand(periodCommand())
    .addCommand(auditCommand())
    .addCommand(logCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
  configure(program)
  return program
}

const FAILED = 1

/** Shows the program's options, such as --as, in the help of every command, and throws instead of exiting. */
const configure = (command: Command, inherited = FAILED) => {
  const misused = Math.max(inherited, failureOf(command.name()))
  command.configureHelp({ showGlobalOptions: true }).exitOverride(error => {
    throw error.exitCode === 0 ? error : new CommanderError(misused, error.code, error.message)
  })
  for (const child of command.commands) configure(child, misused)
}
