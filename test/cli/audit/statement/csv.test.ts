import { readFile } from 'node:fs/promises'
import t from 'tap'
import { statementToCsv } from '../../../../src/cli/audit/statement/csv.ts'
import { accountId, keyId, runId } from '../../../support/account-samples.ts'
import { parseCsv } from '../../../support/csv.ts'
import { everyKind, reasons } from '../../../support/statement-samples.ts'
import { joined, statementOf, year } from '../../../support/statements.ts'

const COLUMNS =
  'account,email,kind,time,local_time,revision,position,event_id,grant_kind,amount,amount_free,amount_paid,balance,' +
  'balance_free,balance_paid,run_id,model,endpoint,price,key_id,reference,reason,payment_amount,payment_currency,' +
  'payment_invoice,hash,sealed,seal,booked_in,label,payment_tax'

const csvOf = async (...args: Parameters<typeof statementOf>) => joined(statementToCsv(await statementOf(...args)))

t.test('the columns are those that the documentation promises', async t => {
  t.equal((await csvOf(everyKind())).split('\r\n')[0], COLUMNS)
  const page = await readFile('docs/exports.md', 'utf8')
  const section = page.slice(page.indexOf('## The table of `audit statement`'))
  t.same(
    [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name),
    COLUMNS.split(','),
  )
})

t.test('the rows lead from the opening to the closing balance', async t => {
  const period = { ...year, zone: 'Europe/Berlin' }
  const rows = parseCsv(await csvOf(everyKind(), { period }))
  t.same(
    rows.map(({ kind, amount, balance, sealed }) => [kind, amount, balance, sealed]),
    [
      ['opening', '', '0.000000', ''],
      ['grant', '4.000000', '4.000000', 'no'],
      ['grant', '100.000000', '104.000000', 'no'],
      ['debit', '-10.000000', '94.000000', 'no'],
      ['refund', '2.000000', '96.000000', 'no'],
      ['withdrawal', '-2.000000', '94.000000', 'no'],
      ['debit', '-10.000000', '84.000000', 'no'],
      ['release', '9.000000', '93.000000', 'no'],
      ['closing', '', '93.000000', ''],
    ],
  )
  t.match(rows[0], { account: accountId(), email: 'eve@example.com', local_time: '2026-01-01T01:00:00.000+01:00' })
  t.match(rows[1], { local_time: '2026-10-25T02:30:00.000+02:00', grant_kind: 'welcome', reference: 'sign-up' })
  t.match(rows[2], { payment_amount: '25.00', payment_currency: 'EUR', payment_tax: '3.99' })
  t.match(rows[3], {
    ...{ local_time: '2026-10-25T02:30:00.000+01:00', amount_free: '-4.000000', amount_paid: '-6.000000' },
    ...{ run_id: runId(), model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i', key_id: keyId() },
    price: 'base 8 + 2 (enable_web_search is true: $2 at $1 a credit) = 10',
  })
  t.match(rows[7], { model: 'gpt-6-1-terra', price: '1,000 × 1,000 / 1,000,000 (output tokens) = 1', reason: '' })
})

t.test('no cell becomes a formula, and none breaks its row', async t => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\tx', '\rx', '＝1']
  const others = ['a, "b"', 'line\r\nend', 'lone\nfeed', ' =1', '日本語']
  const rows = parseCsv(await csvOf(reasons([...formulas, ...others], '=cmd()')))
  t.same(
    rows.slice(1, -1).map(({ reason }) => reason),
    [...formulas.map(text => `'${text}`), ...others],
  )
  t.ok(rows.every(({ email }) => email === "'=cmd()"))
})
