import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Purchase } from '../../../schemas/api/purchase.ts'
import { reconcile } from '../../../src/audit/reconcile/reconcile.ts'
import { recordedSales } from '../../../src/audit/reconcile/recorded-sales.ts'
import { readStripeReport } from '../../../src/audit/reconcile/stripe-report.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { collect } from '../../support/collect.ts'
import { exported } from '../../support/exported.ts'
import { logOf } from '../../support/log-of.ts'
import { operatorOf } from '../../support/operator.ts'
import { startSales } from '../../support/sales.ts'
import { instantProvider, openAccount } from '../../support/service.ts'
import { balanceReport, reportText } from '../../support/stripe/balance-report.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { unwrap } from '../../support/unwrap.ts'

type Row = Record<string, string>

const service = await startSales(t, { providers: { sandbox: instantProvider } })
const { stripe, reports, core } = service

/** A purchase that was paid and whose fee is known, since the buyer came back before the report. */
const bought = async () => {
  const customer = await openAccount(service, { credits: 1 })
  const { body } = await customer.post<Purchase>('/v1/purchases', { begin_at_once: true, pack: 'starter' })
  const sessionId = /cs_\w+/.exec(body.url as string)?.[0] as string
  reports.isHeld = true
  stripe.pay(sessionId)
  await customer.send(`/v1/purchases/${body.id}`)
  reports.release()
  reports.isHeld = false
  await reports.settled()
  return { id: body.id, paymentId: String(stripe.session(sessionId).payment_intent) }
}

const [refunded, failed, disputed, returned] = [await bought(), await bought(), await bought(), await bought()]
stripe.refund(refunded.paymentId, 500)
stripe.failRefund(stripe.refund(failed.paymentId).id)
const { id: disputeId } = stripe.dispute(disputed.paymentId)
await reports.settled()
stripe.closeDispute(disputeId, 'won')
await reports.settled()
const operator = { kind: 'operator', name: 'ada' } as const
unwrap(await core.services.purchaseRefunds.refund(operator, returned.id, { amount: '2.50', reason: 'asked' }))
await until('the refund is accepted', async () =>
  (await collect(core.log.readAll(BEFORE_FIRST))).some(({ type }) => type === 'RefundAccepted'),
)
await reports.settled()
const events = await collect(core.log.readAll(BEFORE_FIRST))
const rows = balanceReport(stripe.store)
const whole = { from: '2000-01-01T00:00:00.000Z', to: '2100-01-01T00:00:00.000Z' }

const compare = async (changed: Row[], log = events, range: object = whole) =>
  reconcile(readStripeReport(reportText(changed)), await recordedSales(logOf(log)), range)

const wrong = async (...args: Parameters<typeof compare>) =>
  (await compare(...args))
    .filter(({ status }) => status !== 'matched')
    .map(({ status, line, move, faults }) => [status, line?.category ?? move?.category, ...faults])

const rowOf = (category: string) => rows.find(row => row['reporting_category'] === category) as Row
const changed = (category: string, change: Row) =>
  rows.map(row => (row === rowOf(category) ? { ...row, ...change } : row))

t.test('each line of the report is in the ledger, and the other way round', async t => {
  t.same(await wrong(rows), [])
  const categories = (await compare(rows)).map(({ line }) => line?.category)
  t.same([...new Set(categories)].sort(), ['charge', 'dispute', 'dispute_reversal', 'refund', 'refund_failure'])
  t.equal(categories.length, 10)
})

t.test('a claim that only takes credits for others is in no report', async t => {
  const passedOn = events
    .filter(({ type }) => type === 'PaymentDisputed' || type === 'DisputeWon')
    .map(event => {
      const data = event.data as Record<string, unknown>
      return { ...event, data: { ...data, claimId: 're_1 passed on', ...('amount' in data && { amount: '0.00' }) } }
    })
  t.equal(passedOn.length, 2)
  t.same(await wrong(rows, [...events, ...(passedOn as typeof events)]), [])
})

t.test('planted differences are found', async t => {
  const amount = { customer_facing_amount: '99.99' }
  t.same(await wrong(changed('charge', amount)), [
    ['differs', 'charge', 'the amount is 99.99 EUR at Stripe, 12.50 EUR here'],
  ])
  t.same(await wrong(changed('charge', { fee: '0.45' })), [
    ['differs', 'charge', 'the fee is 0.45 EUR at Stripe, 0.44 EUR here'],
  ])
  t.match(await wrong(changed('charge', { customer_facing_currency: 'usd' })), [['differs', 'charge', /12\.50 USD/]])
  t.match(await wrong(changed('refund', amount)), [['differs', 'refund']])
  t.match(await wrong(changed('dispute', amount)), [['differs', 'dispute']])
  for (const category of ['charge', 'refund', 'refund_failure', 'dispute', 'dispute_reversal']) {
    const row = rowOf(category)
    t.same(await wrong(rows.filter(each => each !== row)), [['missing at Stripe', category]])
    t.same(await wrong([...rows, row]), [['missing in the ledger', category]], 'it is there twice')
  }
  const strange = { payment_intent_id: 'pi_strange' }
  t.same(await wrong(changed('charge', strange)), [
    ['missing in the ledger', 'charge'],
    ['missing at Stripe', 'charge'],
  ])
  const feeless = events.filter(({ type }) => type !== 'FeeCharged')
  t.equal((await wrong(rows, feeless)).length, 4)
  t.match(await wrong(rows, feeless), [['differs', 'charge', 'the fee is 0.44 EUR at Stripe, not recorded here']])
})

t.test('what is outside the range of the report is not missing in it', async t => {
  const [first] = rows
  t.same(await wrong([], events, {}), [])
  t.same(await wrong([{ ...first, created_utc: '2001-01-01 00:00:00' }] as Row[], events, {}), [])
  t.equal((await wrong([], events)).length, 10)
})

t.test('a payout is another line', async t => {
  const payout = { ...rowOf('charge'), reporting_category: 'payout', source_id: 'po_1', gross: '-40.00', fee: '0.00' }
  t.same(await wrong([...rows, payout]), [['other', 'payout']])
})

t.test('what is not the report is refused, with the line', async t => {
  const read = (text: string) => () => readStripeReport(text)
  const text = reportText(rows)
  t.throws(read(''), { message: 'line 1: the file is empty' })
  t.throws(read(text.replace('source_id', 'source')), { message: 'line 1: the table has no column source_id' })
  t.throws(read(text.replaceAll('"12.50"', '"12,50"')), {
    message: /^line 2: customer_facing_amount is not an amount .*: 12,50$/,
  })
  t.throws(read(text.replace(/"\d{4}-/, '"soon-')), { message: /^line 2: created_utc is not a time/ })
  t.throws(read(`${text}"1","2"\n`), { message: /^line 12: the row has 2 cells, and the first row has 15$/ })
  t.throws(read(text.replace('"Starter', '"Star"ter')), { message: 'line 2: a quotation mark is misplaced' })
  t.equal(readStripeReport(`\uFEFF${text.replaceAll('\n', '\r\n')}`).length, 10)
})

const fileOf = async (t: Test, name: string, text: string) => {
  const path = join(await temporaryFolder(t), name)
  await writeFile(path, text)
  return path
}

t.test('the command prints the differences, and fails if there are some', async t => {
  const command = operatorOf(await temporaryFolder(t))
  const log = await fileOf(t, 'log.jsonl', await exported(events, 'jsonl'))
  const run = async (rows: Row[], ...options: string[]) => {
    const report = await fileOf(t, 'balance.csv', reportText(rows))
    return command.run('audit', 'reconcile', 'stripe', report, '--file', log, ...options)
  }
  const good = await run(rows)
  t.match(good, { code: 0, stdout: /^Compared 10 lines of Stripe with the ledger: 10 matched, 0 differs/ })
  const bad = await run(changed('charge', { fee: '0.45' }), '--from', '2000-01-01', '--to', '2100-01-01')
  t.match(bad, { code: 1, stdout: /differs +2 .* the fee is 0\.45 EUR at Stripe, 0\.44 EUR here/ })
  const json = JSON.parse((await run(rows.slice(1), '--json', '--from', '2000-01-01', '--to', '2100-01-01')).stdout)
  t.match(json.at(-1), { status: 'missing at Stripe', line: null, category: 'charge', object: refunded.paymentId })
  t.match(await run(rows, '--from', 'soon'), { code: 2, stderr: /--from must be a date/ })
  t.match(await command.run('audit', 'reconcile', 'stripe', 'nowhere.csv', '--file', log), { code: 2 })
})
