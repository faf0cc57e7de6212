import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Receipt, ReceiptLine } from '../../schemas/catalog.ts'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import type { BalanceRow, RunRow, StatementRow, UsageRow } from '../../schemas/views.ts'
import { fromMicros, toMicros } from '../../src/domain/money.ts'
import { BEFORE_FIRST, type EventLog } from '../../src/ports/event-log.ts'
import { BY_KEY, type ViewStore } from '../../src/ports/view-store.ts'
import { eventCodec } from '../../src/services/event-codec.ts'
import { collect } from '../support/collect.ts'
import { copyFixtureLog } from '../support/fixture-log.ts'
import { checkChains } from '../support/links.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { openFolder, startService } from '../support/service.ts'

/** What the version that wrote the log said of it. */
interface Expected {
  accounts: Record<string, ExpectedAccount>
  streams: Record<string, { events: number; last: string }>
  statement: (ExpectedLine & { key: string })[]
  runs: { run: string; status: RunRow['status']; charged: number; refunded: number }[]
  idempotency: { account: AccountId; key: string; run: string }
  revokedKey: string
}

/** Newer versions have more to say of a grant. */
interface ExpectedLine extends Movement {
  receipt?: Receipt
}

type Movement = Pick<StatementRow, 'eventId' | 'at' | 'kind' | 'amountMicros' | 'balanceAfterMicros' | 'runId'>

interface ExpectedAccount {
  email: string
  balanceMicros: number
  grantedMicros: number
  debitedMicros: number
  refundedMicros: number
  apiKey?: string
  activeKeys: string[]
  openRuns: string[]
}

const fixture = 'test/fixtures/format-1'
const expected: Expected = JSON.parse(await readFile(join(fixture, 'expected.json'), 'utf8'))

/** A minute after the log was written, when its idempotency keys still count. */
const LATER_MS = Date.parse('2026-11-22T16:11:30.000Z')

const open = async (t: Test, folder: string) => {
  const core = await openFolder(folder, { clock: new ManualClock(LATER_MS) })
  t.teardown(core.close)
  return core
}

const readAll = (log: EventLog) => collect(log.readAll(BEFORE_FIRST))

const readView = <Row>(views: ViewStore, view: string) => views.list<Row>(view, BY_KEY, { prefix: '', limit: 1000 })

const accountNamed = (email: string) => {
  const [id, account] = Object.entries(expected.accounts).find(([, each]) => each.email === email) ?? []
  return { id: id as AccountId, ...(account as ExpectedAccount) }
}

t.test('every stream ends with the link that it had', async t => {
  const { log } = await open(t, await copyFixtureLog(t, 1))
  const chains = checkChains(await readAll(log))
  t.same(
    Object.fromEntries(Object.entries(chains).map(([stream, { events, last }]) => [stream, { events, last }])),
    expected.streams,
  )
  for (const { formats } of Object.values(chains)) t.match(formats, /^1+$/)
})

t.test('accounts fold to the balances, keys and open runs that they had', async t => {
  const { accounts } = await open(t, await copyFixtureLog(t, 1))
  for (const [id, { balanceMicros, activeKeys, openRuns }] of Object.entries(expected.accounts)) {
    const state = await accounts.state(id as AccountId)
    const folded = {
      balanceMicros: state.balanceMicros,
      activeKeys: [...state.activeKeys.keys()],
      openRuns: [...state.openRuns.keys()],
    }
    t.same(folded, { balanceMicros, activeKeys, openRuns })
  }
})

t.test('views show the balances, runs and statement lines that they had', async t => {
  const { views } = await open(t, await copyFixtureLog(t, 1))
  const balances = await readView<BalanceRow>(views, 'balance')
  t.match(
    Object.fromEntries(balances.map(({ place, row }) => [place, row])),
    Object.fromEntries(Object.entries(expected.accounts).map(([id, account]) => [id, sumsOf(account)])),
  )
  const runs = await readView<RunRow>(views, 'runs')
  const seen = runs.map(({ row: { runId: run, status, chargedMicros: charged, refundedMicros: refunded = 0 } }) => ({
    ...{ run, status, charged, refunded },
  }))
  t.same(seen, expected.runs)
  const statement = await readView<StatementRow>(views, 'statement')
  t.same(
    statement.map(({ place: key, row }) => ({ key, ...movement(row), lines: linesOf(row) })),
    expected.statement.map(({ key, ...line }) => ({
      key,
      ...movement(line),
      lines: line.receipt?.lines.map(withoutRate),
    })),
  )
})

t.test('usage counts the refunds of failed runs, under no model and key', async t => {
  const { views } = await open(t, await copyFixtureLog(t, 1))
  const sum = <Of>(items: Of[], of: (item: Of) => number) => items.reduce((total, item) => total + of(item), 0)
  const accounts = Object.values(expected.accounts)
  for (const view of ['usage', 'usageByLabel']) {
    const rows = (await readView<UsageRow>(views, view)).map(({ row }) => row)
    t.equal(
      sum(rows, row => row.chargedMicros),
      sum(accounts, account => account.debitedMicros),
    )
    const [older, others] = [rows.filter(({ model }) => !model), rows.filter(({ model }) => model)]
    t.equal(
      sum(older, row => row.refundedMicros),
      sum(accounts, account => account.refundedMicros),
    )
    const failed = expected.runs.filter(({ status }) => status === 'failed')
    t.same([sum(older, row => row.failures), sum(older, row => row.runs)], [failed.length, 0])
    t.same([sum(others, row => row.failures), sum(others, row => row.runs)], [0, expected.runs.length])
  }
})

const sumsOf = ({ balanceMicros, grantedMicros, debitedMicros, refundedMicros }: ExpectedAccount): BalanceRow => ({
  ...{
    balanceMicros,
    grantedMicros,
    withdrawnMicros: 0,
    debitedMicros,
    refundedMicros,
    releasedMicros: 0,
    expiredMicros: 0,
  },
})

/** The fields of a line that every version gives it. */
const movement = ({ eventId, at, kind, amountMicros, balanceAfterMicros, runId }: Movement): Movement => ({
  ...{ eventId, at, kind, amountMicros, balanceAfterMicros, ...(runId && { runId }) },
})

const linesOf = ({ priceText }: StatementRow) => priceText && JSON.parse(priceText).lines

/** Today, a receipt has one rate for all its lines. */
const withoutRate = ({ usdPerCreditMicros, ...line }: ReceiptLine & { usdPerCreditMicros?: number }) => line

t.test('old grants, refunds and receipts are read in the present shape', async t => {
  const { log } = await open(t, await copyFixtureLog(t, 1))
  const events = (await readAll(log)).map(raw => eventCodec.decode(raw))
  const grants = events.flatMap(event => (event.type === 'CreditsGranted' ? [event] : []))
  const emailOf = (stream: string) => expected.accounts[stream.replace('account-', '')]?.email
  t.same(
    grants.map(({ stream, revision, data: { kind, reason } }) => [emailOf(stream), revision, kind, reason]),
    [
      ['ada@example.com', 1, 'welcome', 'welcome'],
      ['bob@example.com', 1, 'welcome', 'welcome'],
      ['ada@example.com', 5, 'courtesy', 'invoice 17'],
      ['bob@example.com', 3, 'courtesy', 'welcome'],
      ['eve@example.com', 1, 'courtesy', 'sorry for the outage'],
    ],
  )
  for (const { id, data } of grants) t.equal(data.reference, id)
  for (const event of events) if (event.type === 'CreditsRefunded') t.equal(event.data.reason, 'the run failed')

  const receipts = events.flatMap(event => (event.type === 'CreditsDebited' ? [event.data.receipt] : []))
  const surcharged = receipts.filter(({ lines }) => lines.some(({ kind }) => kind === 'surcharge'))
  t.same(
    surcharged.map(({ usdPerCreditMicros }) => usdPerCreditMicros),
    [10_000],
  )
  t.same(surcharged[0]?.lines.at(-1), {
    ...{ kind: 'surcharge', parameter: 'enable_web_search', usdMicros: 15_000, amountMicros: 1_500_000 },
  })
})

t.test('accounts go on in the present format, and every chain holds over both', async t => {
  const folder = await copyFixtureLog(t, 1)
  const ada = accountNamed('ada@example.com')
  const bob = accountNamed('bob@example.com')
  const service = await startService(t, { folder, clock: new ManualClock(LATER_MS) })
  const adas = service.client(ada.apiKey)
  const bobs = service.client(bob.apiKey)

  const { key, run } = expected.idempotency
  const repeated = await adas.run(firstRequest, { 'Idempotency-Key': key })
  t.match(repeated, { status: 200, body: { run_id: run } })
  t.equal(await adas.balance(), fromMicros(ada.balanceMicros))
  const other = { ...firstRequest, metadata: { order: 8 } }
  t.match(await adas.run(other, { 'Idempotency-Key': key }), {
    status: 422,
    body: { error: { code: 'idempotency_mismatch' } },
  })

  const revoked = await service.client(expected.revokedKey).run(firstRequest)
  t.match(revoked, { status: 401, body: { error: { code: 'invalid_api_key' } } })

  const fresh = await bobs.run({ model: 'claude-haiku-4-5', input: { prompt: 'hello' } })
  t.match(fresh, { status: 200, body: { status: 'completed' } })
  const bobMicros =
    bob.balanceMicros - toMicros(fresh.body.credits_charged) + toMicros(fresh.body.credits_released ?? 0)
  t.ok(bobMicros < bob.balanceMicros)
  t.equal(await bobs.balance(), fromMicros(bobMicros))

  const [openRun] = ada.openRuns
  const cancelled = await adas.post(`/v1/runs/${openRun}/cancel`, {}, { Prefer: 'wait=60' })
  t.match(cancelled, { status: 200, body: { status: 'failed', error: { code: 'cancelled' } } })
  const adaMicros = ada.balanceMicros + 1_000_000
  t.equal(await adas.balance(), fromMicros(adaMicros))
  await service.stop()

  const { log, accounts } = await open(t, folder)
  const chains = checkChains(await readAll(log))
  t.match(chains[accountStream(ada.id)], { formats: /^1{52}4+$/ })
  t.match(chains[accountStream(bob.id)], { formats: /^1{13}4+$/ })
  t.equal((await accounts.state(ada.id)).balanceMicros, adaMicros)
  t.equal((await accounts.state(bob.id)).balanceMicros, bobMicros)
})

/** What ada asked for under the key. */
const firstRequest = {
  model: 'nano-banana-2',
  input: { prompt: 'a lighthouse', resolution: '2K', enable_web_search: true },
  metadata: { order: 7 },
}
