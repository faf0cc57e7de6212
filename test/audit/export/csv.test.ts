import { readFile } from 'node:fs/promises'
import t from 'tap'
import { accountId, keyId, runId } from '../../support/account-samples.ts'
import { busyLog } from '../../support/busy-log.ts'
import { parseCsv } from '../../support/csv.ts'
import { exported } from '../../support/exported.ts'
import { ledgerEvents } from '../../support/ledger-events.ts'

const COLUMNS =
  'account,revision,position,event_id,time,kind,grant_kind,amount,amount_free,amount_paid,balance,balance_free,' +
  'balance_paid,run_id,model,endpoint,key_id,reference,reason,hash,label,payment_amount,payment_currency,payment_invoice,' +
  'payment_tax'

t.test('the columns are those that the documentation promises', async t => {
  t.equal(await exported([], 'csv'), `${COLUMNS}\r\n`)
  const page = await readFile('docs/exports.md', 'utf8')
  const section = page.slice(page.indexOf('## `csv`'), page.indexOf('## `hledger` and `beancount`'))
  const documented = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name)
  t.same(documented, COLUMNS.split(','))
})

t.test('each movement is a line, with free and paid credits', async t => {
  const { events, grant, debit, refund, withdraw, reserve, release } = ledgerEvents()
  grant({ micros: 1_000_000, reference: 'sign-up', reason: 'welcome' })
  grant({ micros: 5_000_001, kind: 'purchase', reference: 'invoice 1', reason: 'paid' })
  debit({ micros: 2_500_000 })
  refund({ micros: 2_000_000, reason: 'a gift' })
  withdraw({ micros: 1, kind: 'purchase', reference: 'mistake', reason: 'typed wrong' })
  reserve({ run: 2, outputTokens: 2000 })
  release({ run: 2, outputTokens: 500, micros: 1_500_000 })
  const rows = parseCsv(await exported(events, 'csv'))
  t.equal(rows.length, events.length)
  const id = events[2]?.id as string
  t.same(rows[2], {
    ...{ account: accountId(), revision: '3', position: '2', event_id: id, time: '2026-01-01T12:00:00.000Z' },
    ...{ kind: 'debit', grant_kind: '' },
    ...{ amount: '-2.500000', amount_free: '-1.000000', amount_paid: '-1.500000' },
    ...{ balance: '3.500001', balance_free: '0.000000', balance_paid: '3.500001' },
    ...{ run_id: runId(), model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i', key_id: keyId() },
    ...{ reference: '', reason: '', hash: 'a'.repeat(64), label: '' },
    ...{ payment_amount: '', payment_currency: '', payment_invoice: '', payment_tax: '' },
  })
  t.match(rows, [
    { kind: 'grant', grant_kind: 'welcome', amount_free: '1.000000', reference: 'sign-up', reason: 'welcome' },
    { kind: 'grant', grant_kind: 'purchase', amount_paid: '5.000001', run_id: '' },
    {},
    { kind: 'refund', amount: '2.000000', amount_free: '0.500000', run_id: runId(), key_id: keyId(), reason: 'a gift' },
    { kind: 'withdrawal', grant_kind: 'purchase', amount: '-0.000001', balance_paid: '5.000000' },
    { kind: 'debit', amount: '-2.000000' },
    {
      kind: 'release',
      amount: '1.500000',
      amount_paid: '1.500000',
      run_id: runId(2),
      model: 'gpt-6-1-terra',
      reason: '',
    },
  ])
})

t.test('debits and refunds have the label of their run, which no spreadsheet takes for a formula', async t => {
  const { events, grant, debit, refund } = ledgerEvents()
  grant()
  debit({ label: '=1+1' })
  refund()
  const rows = parseCsv(await exported(events, 'csv'))
  t.same(
    rows.map(({ label }) => label),
    ['', "'=1+1", "'=1+1"],
  )
})

t.test('purchases have what was paid, in every format', async t => {
  const { events, grant } = ledgerEvents()
  grant({ kind: 'purchase', payment: { amount: '25.00', currency: 'EUR', invoice: '2026-17', tax: '3.99' } })
  const paid = { payment_amount: '25.00', payment_currency: 'EUR', payment_invoice: '2026-17', payment_tax: '3.99' }
  t.match(parseCsv(await exported(events, 'csv')), [paid])
  const [hledger, beancount] = [await exported(events, 'hledger'), await exported(events, 'beancount')]
  for (const [name, value] of Object.entries(paid)) {
    t.ok(hledger.includes(`    ; ${name}: ${value}\n`), name)
    t.ok(beancount.includes(`  ${name}: "${value}"\n`), name)
  }
})

t.test('books have the labels of runs', async t => {
  const { events, grant, debit, refund } = ledgerEvents()
  grant()
  debit({ label: 'spring campaign' })
  refund()
  for (const format of ['hledger', 'beancount'] as const)
    t.equal((await exported(events, format)).match(/ label: "?spring campaign"?\n/g)?.length, 2, format)
})

t.test('the lines of a busy log add up to its balances', async t => {
  const events = await busyLog(t)
  const balances = new Map<string | undefined, number>()
  const microsOf = (amount = '') => Number(amount.replace('.', ''))
  for (const { account, amount, balance } of parseCsv(await exported(events, 'csv'))) {
    balances.set(account, (balances.get(account) ?? 0) + microsOf(amount))
    t.equal(balances.get(account), microsOf(balance))
  }
  t.equal(balances.size, 4)
})

t.test('amounts are exact', async t => {
  const { events, grant, debit } = ledgerEvents()
  grant({ micros: Number.MAX_SAFE_INTEGER })
  // Divided by a million as doubles, this would round up to the next credit.
  debit({ micros: 9_006_999_999_999_999 })
  t.match(parseCsv(await exported(events, 'csv')), [
    { amount: '9007199254.740991' },
    { amount: '-9006999999.999999', balance: '199254.740992' },
  ])
})

t.test('texts can neither break a line nor become a formula', async t => {
  const { events, grant } = ledgerEvents()
  const formulas = ['=1+1', '+1', '-1', '@SUM(1)', '\tx', '\rx', '＝1']
  const others = ['a, "b"', 'line\r\nend', 'lone\nfeed', 'lone\rreturn', ' =1', "'", '"', '日本語 👨‍👩‍👧']
  for (const text of [...formulas, ...others]) grant({ reference: text, reason: text })
  const rows = parseCsv(await exported(events, 'csv'))
  const expected = [...formulas.map(text => `'${text}`), ...others]
  t.same(
    rows.map(({ reference, reason }) => [reference, reason]),
    expected.map(text => [text, text]),
  )
})
