import { readFile } from 'node:fs/promises'
import { Command } from 'commander'
import { parseTime } from '../../audit/as-of.ts'
import { count } from '../../audit/decimal.ts'
import { NotATable } from '../../audit/reconcile/csv-rows.ts'
import { type Compared, type Range, reconcile, type Status, sumText } from '../../audit/reconcile/reconcile.ts'
import { recordedSales } from '../../audit/reconcile/recorded-sales.ts'
import { type ReportLine, readStripeReport } from '../../audit/reconcile/stripe-report.ts'
import { toColumns } from '../columns.ts'
import { OperatorError, UNABLE, WRONG } from '../operator-error.ts'
import { progressReport } from '../print.ts'
import { printable } from './text.ts'
import { fileOption, withLog } from './with-log.ts'

export const reconcileCommand = (): Command =>
  new Command('reconcile').description('compare the ledger with the reports of others').addCommand(
    new Command('stripe')
      .description("compare payments, refunds, disputes and fees with Stripe's balance report, line by line")
      .argument('<report>', 'the itemized CSV file "Balance change from activity", in UTC')
      .option('--from <time>', 'when the report begins, in UTC, such as 2026-11-01 (default: its first line)')
      .option('--to <time>', 'when it ends, such as 2026-12-01 (default: its last line)')
      .addOption(fileOption())
      .option('--json', 'print JSON, with all lines')
      .action(async (path, options) => {
        const range = { from: parseBound(options.from, '--from'), to: parseBound(options.to, '--to') }
        const lines = await readReport(path)
        const compared = await withLog(options, async ({ log }) =>
          reconcile(lines, await recordedSales(log, progressReport('compared')), range),
        )
        console.log(options.json ? JSON.stringify(toJson(compared)) : toText(compared, range))
        if (compared.some(isWrong)) process.exitCode = WRONG
      }),
  )

const parseBound = (text: string | undefined, name: string): string | undefined => {
  const at = text === undefined ? undefined : parseTime(text)
  if (text !== undefined && at === undefined)
    throw new OperatorError(`${name} must be a date or a time in UTC, such as 2026-12-01T00:00:00Z.`, UNABLE)
  return at
}

const readReport = async (path: string): Promise<ReportLine[]> => {
  try {
    return readStripeReport(await readFile(path, 'utf8'))
  } catch (error) {
    const { message } = error as Error
    if (error instanceof NotATable)
      throw new OperatorError(`${printable(path)} is not the report: ${printable(message)}. ${EXPECTED}`, UNABLE)
    throw new OperatorError(`The report cannot be read: ${printable(message)}.`, UNABLE)
  }
}

const EXPECTED = 'Download "Balance change from activity", itemized, with all columns, in UTC and with decimal points.'

const isWrong = ({ status }: Compared): boolean => status !== 'matched' && status !== 'other'

const toJson = (compared: Compared[]) =>
  compared.map(each => {
    const { status, line, move, faults } = each
    return {
      status,
      line: line?.line ?? null,
      balance_transaction_id: line?.id ?? null,
      time: line?.at ?? move?.at,
      category: line?.category ?? move?.category,
      object: objectOf(each),
      account: move?.account ?? null,
      purchase_id: move?.purchaseId ?? null,
      faults,
    }
  })

const toText = (compared: Compared[], { from, to }: Range): string => {
  const sums = STATUSES.map(status => [status, compared.filter(each => each.status === status).length] as const)
  const summary = sums.map(([status, number]) => `${number.toLocaleString('en')} ${status}`).join(', ')
  const bounds = [from && `from ${from}`, to && `to ${to}`].filter(Boolean).join(' ')
  const lines = compared.filter(({ line }) => line).length
  const head = `Compared ${count(lines, 'line')} of Stripe with the ledger${bounds && `, ${bounds}`}: ${summary}.`
  const wrong = compared.filter(isWrong)
  if (wrong.length === 0) return head
  return `${head}\n\n${toColumns(wrong.map(rowOf), { head: ['', 'line', 'time', '', '', ''] })}`
}

const STATUSES: Status[] = ['matched', 'differs', 'missing in the ledger', 'missing at Stripe', 'other']

const rowOf = (each: Compared): string[] => {
  const { status, line, move, faults } = each
  const sum = line?.sum ?? move?.sum
  const what = `${line?.category ?? move?.category}${sum ? ` of ${sumText(sum)}` : ''}`
  const place = move ? `${move.account}, ${move.purchaseId}` : ''
  const cells = [status, String(line?.line ?? '–'), line?.at ?? move?.at ?? '', what, objectOf(each)]
  return [...cells, [place, ...faults].filter(Boolean).join(': ')].map(printable)
}

const objectOf = ({ line, move }: Compared): string =>
  move?.object ?? (line?.category === 'charge' ? line.paymentId : (line?.source ?? ''))
