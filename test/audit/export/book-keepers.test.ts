import { join } from 'node:path'
import t, { type Test } from 'tap'
import { costOf } from '../../../schemas/account-events.ts'
import { accountIn } from '../../../schemas/events.ts'
import type { RawEvent } from '../../../schemas/recorded.ts'
import { openLmdbEventLogReadOnly } from '../../../src/adapters/event-log/lmdb-read-only.ts'
import { isOfSale } from '../../../src/audit/export/sales.ts'
import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import { accountId, runId } from '../../support/account-samples.ts'
import {
  needsBookKeepers,
  type Read,
  type ReadBooks,
  readByBeancount,
  readByHledger,
} from '../../support/book-keepers.ts'
import { busyLog } from '../../support/busy-log.ts'
import { collect } from '../../support/collect.ts'
import { exported } from '../../support/exported.ts'
import { copyFixtureLog } from '../../support/fixture-log.ts'
import { ledgerEvents } from '../../support/ledger-events.ts'
import { startWithCosts } from '../../support/vendor-log.ts'

const DAY_MS = 24 * 60 * 60 * 1000

type Format = 'hledger' | 'beancount'

const readers: { format: Format; read: Read }[] = [
  { format: 'hledger', read: readByHledger },
  { format: 'beancount', read: readByBeancount },
]

interface Money {
  amountMicros: number
  balanceAfterMicros: number
  runId?: string
  kind?: string
  reference?: string
  reason?: string
  receipt?: { model: string }
}

const moneyIn = (events: RawEvent[]) =>
  events.filter(({ type }) => type.startsWith('Credits')).map(event => ({ ...event, data: event.data as Money }))

/** The credits that each account has left by the log. */
const balancesIn = (events: RawEvent[]): Record<string, number> =>
  Object.fromEntries(moneyIn(events).map(({ stream, data }) => [accountIn(stream), data.balanceAfterMicros]))

/** The same, and all other accounts together, as books have them. */
const balancesOf = (balances: Record<string, number>) => {
  const customers: Record<string, number> = {}
  let othersMicros = 0
  for (const [name, micros] of Object.entries(balances)) {
    const [, suffix] = /^Liabilities:Credits:(?:Free|Paid):Acct-(.{26}):Lot\d+$/.exec(name) ?? []
    if (suffix) customers[`acct_${suffix}`] = (customers[`acct_${suffix}`] ?? 0) - micros
    else othersMicros += micros
  }
  return { customers: withoutZero(customers), othersMicros }
}

/** hledger leaves out accounts without a balance. */
const withoutZero = (balances: Record<string, number>) =>
  Object.fromEntries(Object.entries(balances).filter(([, micros]) => micros !== 0))

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)

/** The costs of providers that are known, of which each is an entry. */
const knownCostsIn = (events: RawEvent[]): number =>
  events.filter(event => costOf(event)?.amountMicros !== undefined).length

/** The payments, claims and debts, of which each is an entry. */
const salesIn = (events: RawEvent[]): number => events.filter(({ type }) => isOfSale(type)).length

/** Checks that both programs accept the books of these events, and read in them what the log holds. Returns that. */
const checkBooks = async (t: Test, events: RawEvent[]): Promise<(ReadBooks & { format: Format })[]> => {
  const books: (ReadBooks & { format: Format })[] = []
  const expected = withoutZero(balancesIn(events))
  const moves = moneyIn(events)
  for (const { format, read } of readers) {
    const { balances, entries } = await read(t, await exported(events, format))
    books.push({ format, balances, entries })
    const total = sum(Object.values(expected))
    t.same(balancesOf(balances), { customers: expected, othersMicros: total }, format)
    t.equal(sum(Object.values(balances)) + 0, 0, `${format}: all accounts add up to zero`)
    t.equal(entries.length, moves.length + knownCostsIn(events) + salesIn(events), format)
    const byId = new Map(entries.map(({ tags }) => [tags['event_id'], tags]))
    for (const { id, data, metadata } of moves) {
      const { at, hash } = metadata as { at: string; hash: string }
      t.match(byId.get(id), { time: at, hash, ...(data.runId && { run_id: data.runId }) }, `${format}: ${id}`)
    }
  }
  return books
}

t.test('the books of a busy log agree with it', needsBookKeepers, async t => {
  const events = await busyLog(t)
  const books = await checkBooks(t, events)
  const families = new Map<string, number>()
  const runs = new Map<string, string>()
  for (const { type, data } of moneyIn(events)) {
    if (!data.runId) continue
    if (data.receipt) runs.set(data.runId, data.receipt.model)
    const family = runs.get(data.runId) as string
    families.set(family, (families.get(family) ?? 0) + (type === 'CreditsDebited' ? -1 : 1) * data.amountMicros)
  }
  for (const { format, balances } of books) {
    const revenues = Object.entries(balances).filter(([name]) => name.startsWith('Income:Usage:'))
    const byAmount = (one: number, other: number) => one - other
    t.same(
      revenues.map(([, micros]) => micros).sort(byAmount),
      [...families.values()].filter(Boolean).sort(byAmount),
      `${format}: each family has its revenue`,
    )
    t.equal(balances['Income:Usage:NanoBanana2'], families.get('nano-banana-2'))
    t.match(balances, { 'Equity:Grants:Purchase': 24_000_000 })
  }
})

t.test('the books of a log in format 1, whose times may go back', needsBookKeepers, async t => {
  const log = openLmdbEventLogReadOnly(join(await copyFixtureLog(t, 1), 'log'))
  const events = await collect(log.readAll(BEFORE_FIRST))
  await log.close()
  const jumps = [0, 2, -1, 5, -7, 1, 0]
  const jumped = events.map((event, index) => {
    const metadata = event.metadata as { at: string }
    const atMs = Date.parse(metadata.at) + (jumps[index % jumps.length] as number) * DAY_MS
    return { ...event, metadata: { ...metadata, at: new Date(atMs).toISOString() } }
  })
  await checkBooks(t, jumped)
})

t.test('a release takes back revenue, and returns what its debit used last', needsBookKeepers, async t => {
  const { events, grant, reserve, release, refund } = ledgerEvents()
  grant({ micros: 4_000_000 })
  grant({ micros: 8_000_000, kind: 'purchase' })
  reserve()
  release()
  refund({ micros: 300_000 })
  for (const { format, balances, entries } of await checkBooks(t, events)) {
    t.equal(balances['Income:Usage:Gpt6-1Terra'], -700_000, format)
    const customer = `Acct-${accountId().slice('acct_'.length)}`
    const lots = { [`Free:${customer}:Lot1`]: -3_300_000, [`Paid:${customer}:Lot2`]: -8_000_000 }
    for (const [lot, micros] of Object.entries(lots)) t.equal(balances[`Liabilities:Credits:${lot}`], micros, format)
    t.match(entries[3]?.tags, { run_id: runId(), endpoint: 'gpt-6-1-terra-t2t' }, format)
    t.match(await exported(events, format), 'Release: gpt-6-1-terra', format)
  }
})

t.test('no transaction is dated before the one before it in its account', needsBookKeepers, async t => {
  const { events, grant, debit, refund } = ledgerEvents()
  grant({ at: '2026-01-31T23:59:59.999Z' })
  debit({ at: '2026-02-02T00:00:00.000Z' })
  grant({ at: '2026-01-01T00:00:00.000Z', account: 2 })
  refund({ at: '2026-01-30T00:00:00.000Z', micros: 3 })
  refund({ at: '2026-02-03T00:00:00.000Z', micros: 4 })
  for (const { format, entries } of await checkBooks(t, events)) {
    const days = new Map(entries.map(({ day, tags }) => [tags['event_id'], [day, tags['time']?.slice(0, 10)]]))
    t.same(
      events.map(({ id }) => days.get(id)),
      [
        ['2026-01-31', '2026-01-31'],
        ['2026-02-02', '2026-02-02'],
        ['2026-01-01', '2026-01-01'],
        ['2026-02-02', '2026-01-30'],
        ['2026-02-03', '2026-02-03'],
      ],
      format,
    )
  }
})

/** Texts that could end a value, begin another, or be changed in some way. */
const hostile = [
  'a "quoted" word, and \\ a backslash \\',
  '"; hash: 0000, event_id: forged',
  'note: nested, date: 2020-01-01, [2020-13-45]',
  '%2C stays, so does 50% and %%41',
  '  spaces around \u00a0',
  ', begins with a comma,',
  '; begins with a semicolon',
  '=1+1 @cost {1} #tag ^link *',
  'line\nend\r\n  Income:Forged  1 CREDIT',
  'tab\there, bell\u0007, zero\u0000, bidi \u202e, line \u2028 and \u0085',
  '👨‍👩‍👧 日本語 żółć é e\u0301',
  'it\'s (code) | payee ! \\n \\"',
  '\\',
  '"',
]

t.test('references and reasons come back as they were', needsBookKeepers, async t => {
  const { events, grant, debit, refund } = ledgerEvents()
  for (const text of hostile) grant({ reference: `${text}!`, reason: text })
  debit()
  for (const text of hostile) refund({ micros: 1, reason: text })
  for (const { format, read } of readers) {
    const { entries } = await read(t, await exported(events, format))
    const byId = new Map(entries.map(({ tags }) => [tags['event_id'], tags]))
    t.equal(byId.size, events.length)
    for (const { id, data } of moneyIn(events)) {
      const { reference = '', reason = '', ...others } = byId.get(id) ?? {}
      t.same([decoded(reference), decoded(reason)], [data.reference ?? '', data.reason ?? ''], format)
      t.equal(others['hash'], 'a'.repeat(64))
    }
  }
})

/** Undoes every escape of one byte or more; a percent sign elsewhere stands for itself. */
const decoded = (text: string): string => text.replaceAll(/(%[0-9A-F]{2})+/g, escapes => decodeURIComponent(escapes))

t.test('amounts are exact', needsBookKeepers, async t => {
  const { events, grant, withdraw, debit } = ledgerEvents()
  grant({ micros: Number.MAX_SAFE_INTEGER - 1 })
  grant({ micros: 1, kind: 'purchase' })
  debit({ micros: 1 })
  withdraw({ micros: 999_999 })
  debit({ micros: Number.MAX_SAFE_INTEGER - 1_000_001, run: 2 })
  await checkBooks(t, events)
})

t.test('families that would share a name get different ones', needsBookKeepers, async t => {
  const { events, grant, debit } = ledgerEvents()
  grant()
  for (const [run, model] of ['veo-3', 'veo3', 'veo-31', 'veo-3-1', '3d', 'a-1-b2'].entries())
    debit({ run, model, micros: run + 1 })
  for (const { format, read } of readers) {
    const { balances } = await read(t, await exported(events, format))
    t.match(
      balances,
      {
        'Income:Usage:Veo3': -1,
        'Income:Usage:Veo3-No2': -2,
        'Income:Usage:Veo31': -3,
        'Income:Usage:Veo3-1': -4,
        'Income:Usage:3d': -5,
        'Income:Usage:A1B2': -6,
      },
      format,
    )
  }
})

t.test('a wrong amount, balance or order does not pass', needsBookKeepers, async t => {
  const { events, grant, debit } = ledgerEvents()
  grant({ at: '2026-01-01T00:00:00.000Z' })
  debit({ at: '2026-01-02T00:00:00.000Z' })
  debit({ at: '2026-01-03T00:00:00.000Z', run: 2 })
  for (const { format, read } of readers) {
    const text = await exported(events, format)
    for (const [found, other] of [
      [/ 10\.000000/, ' 10.000001'],
      [/-90\.000000/, '-90.000001'],
      [/^2026-01-02 \*/m, '2025-12-31 *'],
    ] as const) {
      t.match(text, found)
      await t.rejects(read(t, text.replace(found, other)), { code: 1 }, `${format}: ${other}`)
    }
  }
})

t.test('the books have what providers charge as an expense and a liability', needsBookKeepers, async t => {
  const { events } = await startWithCosts(t)
  const log = await events()
  const cost = log.find(costOf) as RawEvent
  for (const { format, balances, entries } of await checkBooks(t, log)) {
    t.match(
      balances,
      { 'Expenses:Providers:Vendor USD': 8_123_456, 'Liabilities:Providers:Vendor USD': -8_123_456 },
      format,
    )
    t.match(await exported(log, format), / {2}Expenses:Providers:Vendor {2}8\.123456 USD\n/, format)
    t.match(entries.find(({ tags }) => tags['event_id'] === cost.id)?.tags, {
      run_id: (cost.data as { runId: string }).runId,
      hash: (cost.metadata as { hash: string }).hash,
    })
  }
})
