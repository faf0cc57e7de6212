import type { Command, Help } from 'commander'
import { examples } from '../../../src/cli/examples.ts'
import { createProgram } from '../../../src/cli/program.ts'
import { table } from './table.ts'

const introduction = `# The command line

\`tollgate\` is the command-line tool of the operator. Commands use the stores configured in the environment, whether the
service runs or not. In the repository, run \`npm run -s tollgate -- COMMAND\`; where the package is installed,
\`npx tollgate COMMAND\`. \`npm run docs:pages\` writes this page from [src/cli](../src/cli).

- Give commands the environment of the service: the same stores, \`MASTER_SECRET\` and \`PUBLIC_URL\`.
- Every command has \`--help\`, and takes \`--as NAME\`: the name of the operator in the log (default: the system user).
- A command first brings the views up to date, and rebuilds views that do not match the log or this version. On a long
  log, a rebuild takes a while. \`audit\`, \`providers check\` and the statements of providers need no views.
- Exit codes: 0 for success, 1 for a failure or a fault that the command found. The \`audit\` commands exit with 2 if they
  could not complete the check, and \`providers check\` if there is no key to test.

[Common tasks](operations.md#common-tasks) has examples.
`

/** The page about all commands, in Markdown. */
export const commandsPage = async (): Promise<string> => {
  const program = await createProgram()
  const groups = program
    .createHelp()
    .visibleCommands(program)
    .filter(each => each.name() !== 'help') as Command[]
  const list = groups.map(group => `- [\`${group.name()}\`](#${group.name()}): ${group.description()}`)
  return `${[introduction, ...list, ...groups.map(group => sectionOf(group, '##'))].join('\n')}\n`
}

/** A command with its arguments and options, or a group of commands. */
const sectionOf = (command: Command, level: string): string => {
  const help = command.createHelp()
  const children = help.visibleCommands(command).filter(child => child.name() !== 'help')
  const title = namesOf(command).join(' ')
  if (children.length > 0) {
    const inner = children.map(child => sectionOf(child as Command, `${level}#`))
    return [`\n${level} ${title}\n`, sentence(command.description()), ...inner].join('\n')
  }
  const shown = examples[title]
  const rows = [...argumentsOf(command, help), ...optionsOf(command, help)]
  return [
    `\n${level} ${title}\n`,
    `\`\`\`sh\n${help.commandUsage(command)}\n\`\`\`\n`,
    sentence(command.description()),
    ...(rows.length === 0 ? [] : ['', table(['argument or option', 'meaning'], rows)]),
    ...(shown ? ['\nExamples:\n', '```sh', ...shown.map(each => `tollgate ${each}`), '```'] : []),
  ].join('\n')
}

const argumentsOf = (command: Command, help: Help): string[][] =>
  help.visibleArguments(command).map(argument => [`\`<${argument.name()}>\``, help.argumentDescription(argument)])

const optionsOf = (command: Command, help: Help): string[][] =>
  help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map(option => [`\`${option.flags}\``, help.optionDescription(option)])

const namesOf = (command: Command): string[] =>
  command.parent?.parent ? [...namesOf(command.parent), command.name()] : [command.name()]

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
