import { writeFile } from 'node:fs/promises'
import { Command, Option } from 'commander'
import { accountStream } from '../../../schemas/events.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { monthAfter, startOf } from '../../audit/closings.ts'
import { type Period, parseBound } from '../../audit/statement/period.ts'
import { makeStatement, type Statement } from '../../audit/statement/statement.ts'
import { parseZone } from '../../audit/statement/zone.ts'
import { explainFailure } from '../../boot/process.ts'
import { readConfig } from '../../boot/read-config.ts'
import type { Brand } from '../../domain/brand.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { isAccountId } from '../../services/ids.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { progressReport, writeOut } from '../print.ts'
import { statementToCsv } from './statement/csv.ts'
import { statementToHtml } from './statement/html.ts'
import { statementToJson } from './statement/json.ts'
import { statementToText } from './statement/text.ts'
import { printable } from './text.ts'
import { fileOption, withDecryptedLog } from './with-log.ts'

const FORMATS = {
  text: statementToText,
  csv: statementToCsv,
  json: statementToJson,
  html: (statement: Statement) => statementToHtml(statement, brandOf()),
  // The library takes a while to load.
  pdf: async function* (statement: Statement) {
    const { statementToPdf } = await import('./statement/pdf.ts')
    yield* statementToPdf(statement, brandOf())
  },
} satisfies Record<string, (statement: Statement) => Pieces>

/** As customers see the service, if the command has the service's environment. */
const brandOf = (): Brand => {
  try {
    return readConfig(process.env, { isCommand: true }).brand
  } catch (error) {
    throw new OperatorError(explainFailure(error), UNABLE)
  }
}

type Pieces = Iterable<string> | AsyncIterable<Uint8Array>
type StatementFormat = keyof typeof FORMATS

export const statementCommand = (): Command =>
  new Command('statement')
    .argument('<account>')
    .description(
      'list the credit movements of an account in a period, with opening and closing balance; exits with 1 if the ' +
        'account has faults, and with 2 on other errors',
    )
    .option('--period <month>', 'month in UTC, such as 2026-11, in place of --from and --to')
    .option(
      '--from <time>',
      'start of the period, inclusive: a date, or a time with a zone such as 2026-11-01T00:00:00Z',
    )
    .option('--to <time>', 'end of the period, exclusive, in the same form')
    .option('--tz <zone>', 'time zone for dates and times, such as Europe/Berlin', 'UTC')
    .addOption(new Option('--format <format>', 'output format').choices(Object.keys(FORMATS)).default('text'))
    .option('--output <path>', 'write the statement to this file (default: standard output)')
    .addOption(fileOption())
    .action(async (account: string, options: Options) => {
      if (!isAccountId(account)) throw new OperatorError(NO_ACCOUNT, UNABLE)
      const period = periodOf(options)
      checkTerminal(options, process.stdout.isTTY === true)
      const made = await withDecryptedLog(
        options,
        async ({ log }) =>
          (await makeStatement(log, { account, period, onProgress: progressReport('read') })) ?? missing(log, account),
      )
      if ('fault' in made) throw new OperatorError(faultText(made.fault, account))
      await write(FORMATS[options.format](made), options.output)
    })

interface Options {
  period?: string
  from?: string
  to?: string
  tz: string
  format: StatementFormat
  output?: string
  file?: string
}

const NO_ACCOUNT =
  'The account must be an ID such as acct_01m820b9ztfvgrrk74p12fwn4g; "tollgate accounts list" shows them.'

const periodOf = (options: Options): Period => {
  const zone = parseZone(options.tz)
  if (!zone) throw new OperatorError(`--tz must be an IANA time zone such as Europe/Berlin or UTC.`, UNABLE)
  if (options.period !== undefined) return { ...monthOf(options), zone }
  if (options.from === undefined && options.to === undefined)
    throw new OperatorError('Name the period: give --period 2026-11, or --from and --to.', UNABLE)
  const [from, to] = (['from', 'to'] as const).map(name => {
    const bound = parseBound(options[name] ?? '', zone)
    if (bound) return bound
    throw new OperatorError(
      `--${name} must be a date such as 2026-11-01, or a time with a zone such as 2026-11-01T00:00:00Z.`,
      UNABLE,
    )
  }) as [string, string]
  if (from >= to) throw new OperatorError(`--from must be before --to; they are ${from} and ${to} in UTC.`, UNABLE)
  return { from, to, zone }
}

const monthOf = ({ period = '', from, to }: Options): Pick<Period, 'from' | 'to'> => {
  if (from !== undefined || to !== undefined)
    throw new OperatorError('Give either --period, or --from and --to.', UNABLE)
  const bounds = /^\d{4}-\d\d$/.test(period) ? [period, monthAfter(period)].map(startOf) : []
  const [start, end] = bounds.map(bound => parseBound(bound, 'UTC'))
  if (start && end) return { from: start, to: end }
  throw new OperatorError('--period must be a month in UTC, such as 2026-11.', UNABLE)
}

/** The report of a closed month has only accounts that its seal covers. */
const missing = async (log: ReadableLog, account: string): Promise<never> => {
  const isOpen = (await log.readEvent(accountStream(account as AccountId), 0)) !== undefined
  const why = isOpen ? `${account} was opened after the period was closed.` : `The log has no account ${account}.`
  throw new OperatorError(why, UNABLE)
}

/** A PDF would garble a terminal. */
export const checkTerminal = ({ format, output }: Pick<Options, 'format' | 'output'>, isTerminal: boolean) => {
  if (format === 'pdf' && output === undefined && isTerminal)
    throw new OperatorError('A terminal cannot show a PDF. Name a file with --output statement.pdf.', UNABLE)
}

const faultText = (fault: string, account: string): string =>
  `No statement can be made: ${printable(fault)}.\n` +
  `Run "tollgate audit verify" to find every fault of the log, or "tollgate audit verify ${account}" for this account.`

const write = async (pieces: Pieces, output: string | undefined) => {
  if (output === undefined) return writeOut(pieces, 'statement')
  try {
    await writeFile(output, pieces)
  } catch (error) {
    throw new OperatorError(`The statement cannot be written: ${(error as Error).message}.`, UNABLE)
  }
}
