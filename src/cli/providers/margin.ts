import { Command } from 'commander'
import { isBelowCost, type Margin, margins, marginUsdMicros } from '../../audit/costs/margins.ts'
import { toCredits } from '../../audit/decimal.ts'
import { printable } from '../audit/text.ts'
import { fileOption, withLog } from '../audit/with-log.ts'
import { toColumns } from '../columns.ts'
import { progressReport } from '../progress.ts'
import { costPeriod, FROM, TO } from './cost-period.ts'

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
