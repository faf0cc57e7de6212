import { Command, Option } from 'commander'
import { providerNames } from '../../../schemas/binding.ts'
import { Slug } from '../../../schemas/primitives.ts'
import { parseTime } from '../../audit/as-of.ts'
import {
  type CostLine,
  type CostPeriod,
  isBelowCost,
  type Margin,
  margins,
  marginUsdMicros,
  providerStatement,
} from '../../audit/costs.ts'
import { toCredits } from '../../audit/decimal.ts'
import { compileGuard } from '../../engine/log/codec.ts'
import { printable } from '../audit/text.ts'
import { fileOption, withLog } from '../audit/with-log.ts'
import { toColumns } from '../columns.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { progressReport, writeOut } from '../print.ts'
import { statementToCsv, statementToJson, statementToText } from './statement-forms.ts'

const FORMS = { text: statementToText, csv: statementToCsv, json: statementToJson } satisfies Record<
  string,
  (lines: AsyncIterable<CostLine[]>, provider: string) => AsyncIterable<string>
>

export const statementCommand = (): Command =>
  new Command('statement')
    .argument('<provider>')
    .description('list the runs that a provider charges for, to check its invoice; exits with 2 on errors')
    .option('--from <time>', FROM)
    .option('--to <time>', TO)
    .addOption(new Option('--format <format>', 'output format').choices(Object.keys(FORMS)).default('text'))
    .option('--json', 'print JSON, as with --format json')
    .addOption(fileOption())
    .action(async (provider: string, options) => {
      if (!isProvider(provider)) throw new OperatorError(`The provider must have a name such as ${KNOWN}.`, UNABLE)
      const period = costPeriod(options)
      const form = FORMS[(options.json ? 'json' : options.format) as keyof typeof FORMS]
      // On a terminal, progress would mix with the lines of the statement.
      const onProgress = process.stderr.isTTY && !process.stdout.isTTY ? progressReport('read') : undefined
      await withLog(options, ({ log }) =>
        writeOut(form(providerStatement(log, { provider, ...period, onProgress }), provider), 'statement'),
      )
    })

const isProvider = compileGuard(Slug)

const KNOWN = providerNames.join(', ')

export const marginCommand = (): Command =>
  new Command('margin')
    .description('show the revenue and cost of runs by month, family and provider; exits with 2 on errors')
    .option('--from <time>', FROM)
    .option('--to <time>', TO)
    .addOption(fileOption())
    .option('--json', 'print JSON')
    .action(async options => {
      const period = costPeriod(options)
      const rows = await withLog(options, ({ log }) => margins(log, { ...period, onProgress: progressReport('read') }))
      console.log(options.json ? JSON.stringify(rows.map(toJson)) : toText(rows))
    })

const toJson = (row: Margin) => {
  const marginMicros = marginUsdMicros(row)
  return {
    ...{ month: row.month, family: row.family, provider: row.provider, runs: row.runs, failed: row.failed },
    credits_charged: toCredits(row.chargedMicros),
    credits_refunded: toCredits(row.refundedMicros),
    costs: Object.fromEntries([...row.costs].map(([currency, micros]) => [currency, toCredits(micros)])),
    unknown_costs: row.unknownCosts,
    margin_usd: marginMicros === undefined ? null : toCredits(marginMicros),
    below_cost: isBelowCost(row),
  }
}

const HEAD = ['month', 'family', 'provider', 'runs', 'failed', 'charged', 'refunded', 'cost', 'unknown', 'margin USD']

const toText = (rows: Margin[]): string => {
  if (rows.length === 0) return 'No runs ended in this period.'
  const cells = rows.map(row => {
    const { month, family, provider, runs, failed, costs, unknown_costs, ...json } = toJson(row)
    const cost = Object.entries(costs).map(([currency, amount]) => `${amount} ${currency}`)
    return [
      ...[month, printable(family), printable(provider), String(runs), String(failed)],
      ...[json.credits_charged, json.credits_refunded, cost.join('\n') || '–', String(unknown_costs)],
      json.margin_usd ?? 'unknown',
    ]
  })
  const table = toColumns(cells, { head: HEAD, aligns: ['left', 'left', 'left', ...Array(7).fill('right')] })
  const warnings = rows.filter(isBelowCost).map(warningOf)
  return warnings.length === 0 ? table : [table, '', ...warnings].join('\n')
}

const warningOf = ({ month, family, provider }: Margin): string =>
  `Warning: in ${month}, ${printable(family)} at ${printable(provider)} earned less than it cost; see MARK_UP.`

const FROM = 'start of the period, inclusive: a date in UTC, or a time with a zone such as 2026-11-01T00:00:00Z'
const TO = 'end of the period, exclusive, in the same form'

/** Throws OperatorError for an invalid time. */
const costPeriod = (options: CostPeriod): CostPeriod => {
  const [from, to] = [timeOf('from', options.from), timeOf('to', options.to)]
  if (from !== undefined && to !== undefined && from >= to)
    throw new OperatorError('--to must be later than --from.', UNABLE)
  return { from, to }
}

const timeOf = (name: string, text: string | undefined): string | undefined => {
  const time = text === undefined ? undefined : parseTime(text)
  if (text !== undefined && time === undefined)
    throw new OperatorError(`--${name} must be a date such as 2026-11-01, or a time with a zone.`, UNABLE)
  return time
}
