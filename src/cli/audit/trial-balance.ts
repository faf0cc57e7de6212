import { Command } from 'commander'
import { parseAsOf } from '../../audit/as-of.ts'
import { count, toCredits } from '../../audit/decimal.ts'
import { type ProviderSum, type SplitSum, type TrialBalance, trialBalance } from '../../audit/trial-balance.ts'
import { toColumns } from '../columns.ts'
import { OperatorError, UNABLE } from '../operator-error.ts'
import { progressReport } from '../print.ts'
import { printable } from './text.ts'
import { fileOption, withLog } from './with-log.ts'

export const trialBalanceCommand = (): Command =>
  new Command('trial-balance')
    .description('add up the credits of all accounts: granted, earned, refunded, in flight and owed; the sum is zero')
    .option(
      '--at <moment>',
      'as of this time in UTC, such as 2026-12-01 for the end of November, or this position, such as position:123',
    )
    .addOption(fileOption())
    .option('--json', 'print JSON')
    .action(async options => {
      const asOf = options.at === undefined ? undefined : parseMoment(options.at)
      const balance = await withLog(options, ({ log }) =>
        trialBalance(log, { asOf, onProgress: progressReport('added up') }),
      )
      console.log(options.json ? JSON.stringify(toJson(balance)) : toText(balance))
    })

const parseMoment = (text: string) => {
  const asOf = parseAsOf(text)
  if (asOf && !('revision' in asOf)) return asOf
  throw new OperatorError('--at must be a date, a time such as 2026-12-01T00:00:00Z, or position:123.', UNABLE)
}

const toJson = ({ position, newestAt, accounts, lines, sum, costs, unknownCosts }: TrialBalance) => ({
  position,
  newest_at: newestAt ?? null,
  accounts,
  lines: lines.map(({ part, name, credits }) => ({ part, name: name || null, ...splitToJson(credits) })),
  sum: splitToJson(sum),
  providers: costs.flatMap(sidesOf),
  unknown_costs: unknownCosts,
})

/** An expense and a liability, so that each currency adds up to zero. */
const sidesOf = ({ provider, currency, amountMicros }: ProviderSum) => [
  { part: 'expense', provider, currency, amount: toCredits(amountMicros) },
  { part: 'owed to provider', provider, currency, amount: toCredits(-amountMicros) },
]

const splitToJson = ({ freeMicros, paidMicros }: SplitSum) => ({
  free: toCredits(freeMicros),
  paid: toCredits(paidMicros),
  total: toCredits(freeMicros + paidMicros),
})

const toText = (balance: TrialBalance): string => {
  const { position, newestAt, accounts, lines, sum } = balance
  const rows = lines.map(({ part, name, credits }) => [part, name, ...cells(credits)])
  const table = toColumns([...rows, ['sum', '', ...cells(sum)]], {
    head: ['', '', 'free', 'paid', 'total'],
    aligns: ['left', 'left', 'right', 'right', 'right'],
  })
  const upTo = newestAt ? `up to position ${position} of ${newestAt}` : 'an empty log'
  return `Trial balance of ${count(accounts, 'account')} in credits, ${upTo}\n\n${table}${costsToText(balance)}`
}

const costsToText = ({ costs, unknownCosts }: TrialBalance): string => {
  if (costs.length === 0 && unknownCosts === 0) return ''
  const rows = costs
    .flatMap(sidesOf)
    .map(({ part, provider, amount, currency }) => [part, printable(provider), withCommas(amount), currency])
  const unknown = unknownCosts > 0 ? `\n\nThe cost of ${count(unknownCosts, 'run')} is unknown.` : ''
  return `\n\nProviders\n\n${toColumns(rows, { aligns: ['left', 'left', 'right', 'left'] })}${unknown}`
}

const cells = (split: SplitSum): string[] => Object.values(splitToJson(split)).map(withCommas)

const withCommas = (decimal: string): string => decimal.replace(/\B(?=(\d{3})+\.)/g, ',')
