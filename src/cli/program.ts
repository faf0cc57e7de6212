import { Command, CommanderError } from 'commander'
import { explainFailure } from '../boot/process.ts'
import { visible } from '../domain/visible-text.ts'
import { examples } from './examples.ts'
import { parseOperator } from './operator.ts'
import { OperatorError, UNABLE } from './operator-error.ts'

// Customers and vendors choose names, reasons and messages, so texts for people are escaped.
for (const name of ['log', 'error'] as const) {
  const print = console[name].bind(console)
  console[name] = (...texts: unknown[]) =>
    print(...texts.map(text => (typeof text === 'string' ? visible(text) : text)))
}

/** Runs a command. Resolves to the exit code of the process. */
export const runProgram = async (args: string[]): Promise<number> => {
  const program = await createProgram(args)
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

/** Each command or group of commands, with its description. Its code is loaded only if the arguments name it. */
const commands: [name: string, description: string, load: () => Promise<Command>][] = [
  [
    'accounts',
    'open, find, suspend and close accounts, and set their limits and notices',
    async () => (await import('./accounts.ts')).accountsCommand(),
  ],
  [
    'credits',
    'grant credits and withdraw mistaken grants',
    async () => (await import('./credits.ts')).creditsCommand(),
  ],
  ['keys', 'create, list and revoke API keys', async () => (await import('./keys.ts')).keysCommand()],
  ['auditors', 'create, list and revoke auditor keys', async () => (await import('./auditors.ts')).auditorsCommand()],
  ['runs', 'list, show and refund runs', async () => (await import('./runs.ts')).runsCommand()],
  ['catalog', 'show and change the catalog', async () => (await import('./catalog.ts')).catalogCommand()],
  ['packs', 'show and change what credits cost', async () => (await import('./packs.ts')).packsCommand()],
  [
    'purchases',
    'list, show, refund and add up purchases of credits',
    async () => (await import('./purchases.ts')).purchasesCommand(),
  ],
  [
    'providers',
    'show, check, enable and disable providers, and report their costs',
    async () => (await import('./providers.ts')).providersCommand(),
  ],
  [
    'bindings',
    'list, enable, disable and order bindings: the provider models that serve each endpoint',
    async () => (await import('./bindings.ts')).bindingsCommand(),
  ],
  [
    'webhooks',
    'list and redeliver webhooks, and rotate the webhook secret',
    async () => (await import('./webhooks.ts')).webhooksCommand(),
  ],
  [
    'views',
    'compare the views with the log, or rebuild the views',
    async () => (await import('./views.ts')).viewsCommand(),
  ],
  [
    'period',
    'close months, so that their statements no longer change',
    async () => (await import('./period.ts')).periodCommand(),
  ],
  [
    'audit',
    'verify, read and export the event log, without changing it',
    async () => (await import('./audit.ts')).auditCommand(),
  ],
  ['log', 'copy the event log to another event store', async () => (await import('./log.ts')).logCommand()],
  [
    'backup',
    'back up the embedded log, the files and the secrets to a new folder, while the service runs',
    async () => (await import('./backup.ts')).backupCommand(),
  ],
  [
    'restore',
    'restore a full backup, and the backups that continue it in their order, into an empty DATA_DIR',
    async () => (await import('./backup.ts')).restoreCommand(),
  ],
  [
    'doctor',
    [
      'check the configuration, files, stores, clocks, room, certificates, mail, payments and providers, and say what',
      'to do; exits with 1 if there is a fault',
    ].join(' '),
    async () => (await import('./doctor.ts')).doctorCommand(),
  ],
]

/** The program with the code of the commands that the arguments name, by default all. `docs/cli.md` is made from it. */
export const createProgram = async (args?: string[]): Promise<Command> => {
  const isNamed = (name: string) => args === undefined || args.includes(name)
  const program = new Command('tollgate')
    .description(
      'Operate Tollgate. Commands use the stores configured in the environment, and can run while the service runs.',
    )
    .option('--as <name>', 'name of the operator, recorded in the log (default: the system user)', parseOperator)
    .showHelpAfterError()
  for (const [name, description, load] of commands) {
    const command = isNamed(name) ? await load() : new Command(name)
    program.addCommand(command.description(description))
  }
  await addCompletion(program, isNamed)
  configure(program)
  return program
}

/** The scripts call the hidden command `complete` for each word. */
const addCompletion = async (program: Command, isNamed: (name: string) => boolean) => {
  const name = 'completion'
  if (isNamed(name) || isNamed('complete')) {
    const { default: complete } = await import('@bomb.sh/tab/commander')
    complete(program, { completionCommandName: name })
  } else program.command(name)
  const command = program.commands.find(each => each.name() === name)
  command?.description('print a script that completes commands and options in a shell')
}

const FAILED = 1

/** Shows the program's options, such as --as, in the help of every command, and throws instead of exiting. */
const configure = (command: Command, path: string[] = [], inherited = FAILED) => {
  const shown = examples[path.join(' ')]
  if (shown) command.addHelpText('after', ['', 'Examples:', ...shown.map(each => `  tollgate ${each}`)].join('\n'))
  const misused = Math.max(inherited, failureOf(command.name()))
  command.configureHelp({ showGlobalOptions: true }).exitOverride(error => {
    throw error.exitCode === 0 ? error : new CommanderError(misused, error.code, error.message)
  })
  for (const child of command.commands) configure(child, [...path, child.name()], misused)
}
