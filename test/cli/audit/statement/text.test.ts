import { readFile } from 'node:fs/promises'
import t from 'tap'
import { statementToJson } from '../../../../src/cli/audit/statement/json.ts'
import { statementToText } from '../../../../src/cli/audit/statement/text.ts'
import { accountId, runId } from '../../../support/account-samples.ts'
import { ledgerEvents } from '../../../support/ledger-events.ts'
import { linked } from '../../../support/linked.ts'
import { everyKind, reasons } from '../../../support/statement-samples.ts'
import { joined, statementOf, year } from '../../../support/statements.ts'

const berlin = { period: { ...year, zone: 'Europe/Berlin' } }

t.test('the text shows balances, sums and lines, and the offset where the clocks are set back', async t => {
  const text = joined(statementToText(await statementOf(everyKind(), berlin)))
  t.match(text, /^from +2026-01-01 01:00:00 \+01:00$/m)
  t.match(text, /^time zone +Europe\/Berlin$/m)
  t.match(text, /^opening balance +0\.00 +0\.00 +0\.00$/m)
  t.match(text, /^granted: purchase +0\.00 +\+100\.00 +\+100\.00$/m)
  t.match(text, /^withdrawn +0\.00 +−2\.00 +−2\.00$/m)
  t.match(text, /^released +0\.00 +\+9\.00 +\+9\.00$/m)
  t.match(text, /^closing balance +0\.00 +93\.00 +93\.00$/m)
  t.match(text, /^2026-10-25 \+02:00\n02:30:00\.000 +granted: welcome +\+4\.00 free +4\.00 free$/m)
  t.match(text, /^2026-10-25 \+01:00\n02:30:00\.000 +granted: purchase/m)
  t.match(text, /^7 lines$/m)
  t.ok(
    text.split('\n').every(line => line.length <= 100),
    'it fits in 100 columns',
  )
})

t.test('the columns stand below each other, whatever the figures and scripts', async t => {
  const { events, grant } = ledgerEvents()
  grant({ micros: 9_000_000_000_000_001, kind: 'purchase', reference: 'large' })
  grant({ micros: 1, reference: 'small', reason: '山田 🌊' })
  const text = joined(statementToText(await statementOf(linked(events))))
  const widthOf = (line: string) => [...line].length + (line.match(/[山田🌊]/gu)?.length ?? 0)
  const ends = text.split('\n').filter(line => / (free|paid)$/.test(line) && /\d /.test(line))
  t.equal(ends.length, 3)
  t.match(ends[1], /山田 🌊 +0\.000001 free$/)
  t.equal(new Set(ends.map(widthOf)).size, 1)
})

t.test('the texts of the log cannot control the terminal', async t => {
  const text = joined(statementToText(await statementOf(reasons(['\u001b[2J'], '\u009b2J@example.com'))))
  t.match(text, '\\u001b[2J')
  t.match(text, '\\u009b2J@example.com')
})

t.test('the JSON has every value, with the names that the documentation promises', async t => {
  const json = joined(statementToJson(await statementOf(everyKind(), berlin)))
  const { lines, ...head } = JSON.parse(json)
  t.match(head, {
    ...{ account_id: accountId(), email: 'eve@example.com', tester: false },
    period: { from: year.from, to: year.to, time_zone: 'Europe/Berlin', from_local: '2026-01-01T01:00:00.000+01:00' },
    ...{ credits_opening: 0, credits_closing: 93, credits_closing_free: 0, credits_closing_paid: 93 },
    ...{ credits_granted: 104, credits_withdrawn: 2, credits_charged: 20, credits_refunded: 2, credits_released: 9 },
    granted_by_kind: [
      { kind: 'welcome', credits: 4 },
      { kind: 'purchase', credits: 100, credits_paid: 100 },
    ],
    ...{ read_to: { position: 7 }, seal: null, unsealed_events: 8, unsealed_lines: 7 },
  })
  t.match(lines[2], {
    ...{ revision: 3, kind: 'debit', words: 'charged: nano-banana-2', run_id: runId(), grant_kind: null },
    price_lines: [
      { kind: 'base', credits: 8, result: '8' },
      { kind: 'surcharge', result: '10' },
    ],
    ...{ credits_change: -10, credits_change_free: -4, credits_balance: 94, is_sealed: false },
  })
  t.match(lines[6], {
    ...{ kind: 'release', words: 'released: gpt-6-1-terra', run_id: runId(2), credits_change: 9 },
    price_lines: [{ kind: 'tokens', count: 0 }, {}, { tokens: 'output', count: 1000, result: '1' }, {}],
  })
  const page = await readFile('docs/audit-commands.md', 'utf8')
  const section = page.slice(page.indexOf('## `audit statement ACCOUNT --format json`'))
  for (const name of [...Object.keys(head), ...Object.keys(lines[2])])
    t.match(section, `\`${name.replace(/(credits_\w+?)_(free|paid)$/, '$1')}\``, name)
})

t.test('a statement without lines is JSON, too', async t => {
  const period = { ...year, from: '2026-12-01T00:00:00.000Z' }
  const json = joined(statementToJson(await statementOf(everyKind(), { period })))
  t.match(JSON.parse(json), { credits_opening: 93, credits_closing: 93, lines: [] })
})
