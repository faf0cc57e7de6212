import { Command, Option } from 'commander'
import type { ClaimRow, PurchaseRow } from '../../schemas/views.ts'
import { decimalsOf } from '../domain/currencies.ts'
import { sumOfAmounts } from '../domain/decimal-amounts.ts'
import { fromMicros } from '../domain/money.ts'
import { purchaseItem, withdrawableUntil } from '../services/purchases/purchase-item.ts'
import { type CountrySales, salesByCountry, standingClaims } from '../services/purchases/sales-by-country.ts'
import { checkReason, parseAmount, parsePeriod } from './arguments.ts'
import { operatorOf } from './operator.ts'
import { printMany, printOne } from './print.ts'
import { unwrap } from './refusals.ts'
import { withCore } from './with-core.ts'

export const purchasesCommand = (): Command =>
  new Command('purchases')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(refundCommand())
    .addCommand(reportCommand())

const listCommand = (): Command =>
  new Command('list')
    .argument('[account]', 'show only the purchases of this account')
    .description('list purchases by account, the oldest first')
    .option('--json', 'print JSON, in the form of the items of GET /v1/purchases, with the account')
    .action(async (account, options, command) => {
      const caller = operatorOf(command)
      const rows = await withCore(async ({ services }) => unwrap(await services.purchaseRefunds.list(caller, account)))
      printMany(options.json ? rows.map(toItem) : rows.map(toRow), options, 'There are no purchases.')
    })

const showCommand = (): Command =>
  new Command('show')
    .argument('<purchase>')
    .description('show a purchase with its refunds and disputes')
    .option('--json', 'print JSON')
    .action(async (id, options, command) => {
      const caller = operatorOf(command)
      const row = await withCore(async ({ services }) => unwrap(await services.purchaseRefunds.find(caller, id)))
      printOne(options.json ? toItem(row) : { ...toRow(row), ...details(row) }, options)
    })

const refundCommand = (): Command =>
  new Command('refund')
    .argument('<purchase>')
    .description(
      [
        'refund a paid purchase: withdraw the credits that its money bought and that are left, and let the service ask',
        'Stripe to return the money',
      ].join(' '),
    )
    .requiredOption('--reason <text>', 'reason, recorded in the log; at most 200 characters')
    .option('--amount <number>', 'money to return, such as 5.00 (default: as much as the credits left are worth)')
    .option('--json', 'print JSON')
    .action(async (id, { amount: text, reason, ...options }, command) => {
      const caller = operatorOf(command)
      checkReason(reason)
      await withCore(async ({ config, services: { purchaseRefunds } }) => {
        const { currency } = unwrap(await purchaseRefunds.find(caller, id))
        const amount = text === undefined ? undefined : parseAmount(text, currency)
        const refunded = unwrap(await purchaseRefunds.refund(caller, id, { amount, reason }))
        const { purchase, claimId, withdrawnMicros, bonusWithdrawnMicros } = refunded
        const claim = purchase.claims?.find(each => each.claimId === claimId) as ClaimRow
        printOne(
          {
            ...{ account_id: purchase.accountId, purchase_id: purchase.purchaseId, refund_id: claimId },
            ...(options.json
              ? { amount: claim.amount, currency: claim.currency }
              : { amount: `${claim.amount} ${claim.currency}` }),
            credits_withdrawn: fromMicros(withdrawnMicros),
            ...(bonusWithdrawnMicros > 0 && { bonus_credits_withdrawn: fromMicros(bonusWithdrawnMicros) }),
          },
          options,
        )
        if (!options.json) console.log(config.payments ? FOLLOWS : NO_KEY)
      })
    })

const FOLLOWS = [
  'The service asks Stripe for the money within seconds, or when it runs again. If the refund fails, the credits come',
  'back, and "tollgate purchases show" shows when. Its log says why.',
].join('\n')

const NO_KEY = 'STRIPE_SECRET_KEY is not set here. Stripe is asked for the money once the service runs with this key.'

const reportCommand = (): Command =>
  new Command('report')
    .description(
      'add up the paid purchases of a period; their refunds and disputes count with them, whenever they came',
    )
    .addOption(new Option('--by <what>', 'what to add up by').choices(['country']).makeOptionMandatory())
    .option('--from <time>', 'start of the payments, inclusive: a date in UTC, or a time with a zone')
    .option('--to <time>', 'end of the payments, exclusive, in the same form')
    .option('--json', 'print JSON')
    .action(async (options, command) => {
      const caller = operatorOf(command)
      const { from = '', to = LAST } = parsePeriod(options)
      const rows = await withCore(async ({ services }) => unwrap(await services.purchaseRefunds.list(caller)))
      const paid = rows.filter(({ paidAt }) => paidAt !== undefined && from <= paidAt && paidAt < to)
      printMany(salesByCountry(paid).map(toSales), options, 'Nothing was paid in this period.')
    })

/** Sorts after every time. */
const LAST = '~'

const toSales = ({ country, ...sales }: CountrySales) => ({ country: country ?? null, ...sales })

const toItem = (row: PurchaseRow) => ({
  ...purchaseItem(row),
  ...{ account_id: row.accountId, payment_id: row.paymentId ?? null },
})

const toRow = (row: PurchaseRow) => ({
  ...{ purchase_id: row.purchaseId, account_id: row.accountId, status: row.status },
  ...{ created_at: row.createdAt, paid_at: row.paidAt, credits: fromMicros(row.creditsMicros) },
  price: `${row.amount} ${row.currency}`,
  ...{ refunded: standing(row, 'refund'), disputed: standing(row, 'dispute') },
})

/** What stands of the claims of a kind; undefined if there are none. */
const standing = (row: PurchaseRow, kind: ClaimRow['kind']): string | undefined => {
  const claims = standingClaims(row).filter(claim => claim.kind === kind)
  const currencies = [...new Set(claims.map(({ currency }) => currency))]
  const sums = currencies.map(currency => {
    const amounts = claims.filter(claim => claim.currency === currency).map(({ amount }) => amount)
    return `${sumOfAmounts(amounts, decimalsOf(currency) ?? 0)} ${currency}`
  })
  return sums.length > 0 ? sums.join(', ') : undefined
}

const details = (row: PurchaseRow) => ({
  bonus: row.bonusMicros === undefined ? undefined : fromMicros(row.bonusMicros),
  ...{ pack: row.pack, tax: row.tax && `${row.tax} ${row.currency}`, country: row.country },
  ...{ card_country: row.evidence?.cardCountry, tax_id: row.evidence?.taxId && 'given' },
  fee: row.fee && `${row.fee.amount} ${row.fee.currency}`,
  ...{ invoice_id: row.invoice, payment_id: row.paymentId, checkout_id: row.checkoutId },
  ...{ begin_at_once: row.beginAtOnce && `consented at ${row.createdAt}`, withdrawal_until: withdrawableUntil(row) },
  withdrawal: row.withdrawal && `${row.withdrawal.amount} ${row.withdrawal.currency} at ${row.withdrawal.at}`,
  ...(row.claims && { claims: row.claims.map(claimText).join('\n') }),
})

const claimText = ({ kind, claimId, at, amount, currency, reversedAt }: ClaimRow): string => {
  const end = reversedAt === undefined ? '' : `, ${kind === 'refund' ? 'failed' : 'won'} at ${reversedAt}`
  return `${kind} ${claimId} of ${amount} ${currency} at ${at}${end}`
}
