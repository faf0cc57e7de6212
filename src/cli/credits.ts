import { Command, Option } from 'commander'
import { GRANT_KINDS, type GrantKind, type Payment } from '../../schemas/account-events.ts'
import { CURRENCY, MONEY_AMOUNT } from '../../schemas/primitives.ts'
import { decimalsOf } from '../domain/currencies.ts'
import { decimalsIn, minorOf, withDecimals } from '../domain/decimal-amounts.ts'
import { fromMicros } from '../domain/money.ts'
import {
  checkInvoice,
  checkReason,
  checkReference,
  parseAmount,
  parseCredits,
  parseExpiry,
  positive,
} from './arguments.ts'
import { operatorOf } from './operator.ts'
import { OperatorError } from './operator-error.ts'
import { printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const creditsCommand = (): Command => {
  const command = new Command('credits')
  addMove(command, 'grant', 'add credits to an account', 'courtesy')
    .option('--paid <money>', "amount paid for a purchase, such as '25.00 EUR'")
    .option('--tax <number>', 'tax in the amount paid, such as 3.99 (default: unknown)')
    .option('--invoice <text>', 'invoice of a purchase (default: the reference)')
    .option('--expires <time>', 'when the credits expire, such as 2027-01-31 (default: never)')
  addExtend(command)
  addMove(command, 'withdraw', 'withdraw granted credits; the balance never falls below zero', 'correction')
  return command
}

const addExtend = (parent: Command) =>
  parent
    .command('extend <account> <lot>')
    .description('put off the time at which the credits of a grant expire; a lot is the number of a grant, from 1')
    .requiredOption('--until <time>', "the new time, such as 2027-01-31, or 'never'")
    .requiredOption('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .option('--json', 'print JSON')
    .action(async (account, number, { until, reason, ...options }, command) => {
      const caller = operatorOf(command)
      checkReason(reason)
      const lot = positive(number)
      const expiresAt = until === 'never' ? undefined : parseExpiry(until)
      await withCore(async ({ services: { accounts } }) => {
        unwrap(await accounts.extendLot(caller, account, { lot, expiresAt, reason }))
        printOne({ account_id: account, lot, expires_at: expiresAt ?? null }, options)
      })
    })

const addMove = (parent: Command, name: 'grant' | 'withdraw', description: string, kind: string) =>
  parent
    .command(`${name} <account> <credits>`)
    .description(description)
    .requiredOption('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .addOption(new Option('--kind <kind>', 'kind of grant, recorded in the log').choices(GRANT_KINDS).default(kind))
    .option('--reference <text>', 'unique reference, such as an invoice number; repeating a reference moves no credits')
    .option('--json', 'print JSON')
    .action(async (account, text, options, command) => {
      const caller = operatorOf(command)
      const amountMicros = parseCredits(text, { least: 1 })
      const { kind, reference, reason } = options
      checkReason(reason)
      if (reference !== undefined) checkReference(reference)
      // The kind of a withdrawal is that of the withdrawn grants. A withdrawal has no payment.
      const payment = name === 'grant' ? parsePayment(options) : undefined
      const expiresAt = options.expires === undefined ? undefined : parseExpiry(options.expires)
      const moved = { amountMicros, kind, reference, reason, payment, expiresAt }
      await withCore(async ({ services: { accounts } }) => {
        const result = unwrap(await accounts[name](caller, account, moved))
        if (!result.isNew && !options.json) console.log(REPEATED)
        printOne(
          {
            account_id: account,
            [name === 'grant' ? 'credits_granted' : 'credits_withdrawn']: fromMicros(amountMicros),
            reference: result.reference,
            ...(payment && { paid: moneyText(payment), tax: taxText(payment), invoice: payment.invoice }),
            ...(expiresAt !== undefined && { expires_at: expiresAt }),
            ...(options.json && { repeated: !result.isNew }),
            credits_balance: fromMicros(result.balanceMicros),
          },
          options,
        )
      })
    })

const REPEATED = 'Already recorded under this reference. Nothing changed: the first kind, reason and payment apply.'

interface PurchaseOptions {
  kind: GrantKind
  paid?: string
  tax?: string
  invoice?: string
  reference?: string
}

/** The payment of a purchase; undefined for other kinds. Throws OperatorError if it is missing or not allowed. */
const parsePayment = ({ kind, paid, tax, invoice, reference }: PurchaseOptions): Payment | undefined => {
  if (kind !== 'purchase') {
    if (paid === undefined && tax === undefined && invoice === undefined) return undefined
    throw new OperatorError('Only a purchase has a payment: add --kind purchase, or omit --paid, --tax and --invoice.')
  }
  const money = parseMoney(paid)
  const named = invoice ?? reference
  if (named === undefined) throw new OperatorError('A purchase needs an invoice: give --invoice or --reference.')
  checkInvoice(named)
  return { ...money, invoice: named, ...(tax !== undefined && { tax: parseTax(tax, money) }) }
}

/** Throws OperatorError for more tax than was paid. */
const parseTax = (text: string, { amount, currency }: Money): string => {
  const tax = parseAmount(text, currency)
  if (minorOf({ amount: tax }) > minorOf({ amount: parseAmount(amount, currency) }))
    throw new OperatorError(`The tax of ${tax} ${currency} is more than the amount paid.`)
  return tax
}

type Money = Pick<Payment, 'amount' | 'currency'>

/**
 * An amount in a current currency, with no more decimals than the currency has: `1.000 EUR` means a thousand in most of
 * Europe. Throws OperatorError.
 */
const parseMoney = (paid = ''): Money => {
  const { amount, currency } = PAID.exec(paid)?.groups ?? {}
  if (!amount || !currency)
    throw new OperatorError(
      [
        "A purchase needs the amount paid, such as --paid '25.00 EUR'. Write the amount without a separator for",
        'thousands, and with a point before the decimals.',
      ].join(' '),
    )
  const most = decimalsOf(currency)
  if (most === undefined) throw new OperatorError(`${currency} is not a current ISO 4217 currency.`)
  if (decimalsIn(amount) > most)
    throw new OperatorError(
      [
        `${JSON.stringify(paid)} is not clear: an amount in ${currency} has ${most || 'no'} decimals.`,
        'Write it without a separator for thousands.',
      ].join(' '),
    )
  return { amount, currency }
}

const PAID = new RegExp(`^(?<amount>${MONEY_AMOUNT}) ?(?<currency>${CURRENCY})$`)

/** A payment with all the decimals of its currency. */
const moneyText = ({ amount, currency }: Money): string =>
  `${withDecimals(amount, Math.max(decimalsOf(currency) ?? 0, decimalsIn(amount)))} ${currency}`

const taxText = ({ tax, currency }: Payment): string | undefined => tax && `${tax} ${currency}`
