import t from 'tap'
import type { SpokenLine } from '../../src/transports/statement/lines.ts'
import { statementPdf } from '../../src/transports/statement/pdf-thread.ts'
import { ourBrand } from '../support/brands.ts'
import { pageText, pdfPages } from '../support/pdf-text.ts'

const lineAt = (index: number): SpokenLine => ({
  revision: index,
  at: new Date(Date.UTC(2026, 0, 1) + index * 60_000).toISOString(),
  kind: 'debit',
  what: 'Nano Banana 2',
  detail: '',
  runId: `run_${index}`,
  model: 'nano-banana-2',
  keyName: 'website',
  label: `label ${index}`,
  changeMicros: -10_000_000,
  balanceMicros: 1_000_000_000 - index * 10_000_000,
})

const orderOf = (count: number) => ({
  lines: Array.from({ length: count }, (_, index) => lineAt(index)),
  account: 'acct_1',
  owner: 'ada@example.com',
  from: '2026-01-01T00:00:00.000Z',
  to: '2026-02-01T00:00:00.000Z',
  brand: ourBrand,
})

const waiting = new AbortController().signal

t.test('others are served while a long statement is laid out', async t => {
  let turns = 0
  let isDone = false
  const turn = () => {
    turns += 1
    if (!isDone) setImmediate(turn)
  }
  turn()
  const pdf = await statementPdf(orderOf(300), waiting).finally(() => {
    isDone = true
  })
  t.ok(turns > 100, `the event loop turned ${turns} times`)
  const text = pdfPages(Buffer.from(pdf)).map(pageText).join('\n')
  t.match(text, 'run_0')
  t.match(text, 'run_299')
})

t.test('a client that leaves ends the work, and the next one is served', async t => {
  const leaving = new AbortController()
  const first = statementPdf(orderOf(2000), leaving.signal)
  const second = statementPdf(orderOf(2000), leaving.signal)
  const third = statementPdf(orderOf(1), waiting)
  leaving.abort()
  await t.rejects(first, { name: 'AbortError' })
  await t.rejects(second, { name: 'AbortError' })
  t.match(Buffer.from(await third).toString('latin1'), /^%PDF/)
})
