import t from 'tap'
import { type LedgerLine, LedgerList } from '../../schemas/api/ledger.ts'
import type { Quote } from '../../schemas/api/run.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import type { Client } from '../support/client.ts'
import { picture, sandbox } from '../support/client.ts'
import { openAccount, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startService(t)
const customer = await openAccount(service, { tester: true })
const operator = { kind: 'operator', name: 'test' } as const

const completed = (await customer.run(picture)).body
const failed = (await customer.run(sandbox({ outcome: 'provider_error' }))).body
const { accounts, refunds } = service.core.services
const payment = { amount: '25.00', currency: 'EUR', invoice: '2026-17', tax: '3.99' }
const purchase = {
  amountMicros: 50_000_000,
  kind: 'purchase',
  reference: 'r-1',
  reason: 'paid by card',
  payment,
} as const
unwrap(await accounts.grant(operator, customer.accountId, purchase))
const mistake = { amountMicros: 20_000_000, kind: 'correction', reference: 'r-2', reason: 'granted twice' } as const
unwrap(await accounts.withdraw(operator, customer.accountId, mistake))
unwrap(await refunds.refund(operator, completed.run_id, { amountMicros: 2_500_000, reason: 'blurred' }))

const faultsOfList = compileCheck(LedgerList)
const list = async (query: string, client: Client = customer): Promise<LedgerList> => {
  const { body } = await client.send<LedgerList>(`/v1/ledger${query}`)
  const faults = faultsOfList(body)
  if (faults.length > 0) throw new Error(`${JSON.stringify(body)} is no page of lines: ${JSON.stringify(faults)}`)
  return body
}

/** Follows the cursors of a query to its end. */
const listAll = async (query: string, client: Client = customer): Promise<LedgerLine[]> => {
  const found: LedgerLine[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await list(`?${query}${cursor && `&cursor=${cursor}`}`, client)
    found.push(...page.data)
    cursor = page.next_cursor
  }
  return found
}

const lines = (await list('')).data

t.test('each movement of credits is a line with its cause and the balance after it, newest first', async t => {
  const { key_id, run_id } = lines[4] as LedgerLine
  t.same([key_id, run_id], [customer.keyId, failed.run_id])
  const ofPicture = { run_id: completed.run_id, model: 'nano-banana-2', endpoint: 'nano-banana-2-t2i' }
  const ofSandbox = { run_id: failed.run_id, model: 'sandbox', endpoint: failed.endpoint }
  const line = 'ledger_line'
  const expected = [
    { object: line, kind: 'refund', credits: 2.5, credits_balance: 122.5, ...ofPicture, reason: 'blurred' },
    {
      ...{ object: line, kind: 'withdrawal', credits: -20, credits_balance: 120 },
      ...{ grant_kind: 'correction', reference: 'r-2', reason: 'granted twice' },
    },
    {
      ...{ object: line, kind: 'grant', credits: 50, credits_balance: 140 },
      ...{ grant_kind: 'purchase', reference: 'r-1', reason: 'paid by card', payment, lot: 2 },
    },
    {
      ...{ object: line, kind: 'refund', credits: 1, credits_balance: 90, ...ofSandbox },
      reason: 'the run failed: provider_error',
    },
    { object: line, kind: 'debit', credits: -1, credits_balance: 89, ...ofSandbox, key_id: customer.keyId },
    { object: line, kind: 'debit', credits: -10, credits_balance: 90, ...ofPicture, key_id: customer.keyId },
    {
      ...{ object: line, kind: 'grant', credits: 100, credits_balance: 100 },
      ...{ grant_kind: 'welcome', reference: 'welcome', reason: 'welcome', lot: 1 },
    },
  ]
  t.same(
    lines.map(({ event_id, revision, created_at, lines, ...rest }) => rest),
    expected,
  )
  t.same(
    lines.map(({ revision }) => revision).sort((a, b) => b - a),
    lines.map(({ revision }) => revision),
  )
  t.equal(lines[0]?.credits_balance, await customer.balance())
})

t.test('the price lines of a debit are those of its quote', async t => {
  const { body } = await customer.post<Quote>('/v1/run?dry_run=true', picture)
  t.same(lines[5]?.lines, body.lines)
})

t.test('pages of any size contain every line once, with and without a period', async t => {
  const { created_at: last = '' } = lines[0] ?? {}
  for (const limit of [1, 2, 3, 6, 7, 100]) {
    t.same(await listAll(`limit=${limit}`), lines, `limit ${limit}`)
    t.same(await listAll(`limit=${limit}&from=2020-01-01`), lines, `limit ${limit} of a period`)
    t.same(
      await listAll(`limit=${limit}&to=${last}`),
      lines.filter(line => line.created_at < last),
      `limit ${limit} up to the last line`,
    )
  }
})

t.test('a period includes its start and not its end', async t => {
  for (const { created_at: from } of lines)
    for (const { created_at: to } of lines) {
      const expected = lines.filter(line => line.created_at >= from && line.created_at < to)
      t.same((await list(`?from=${from}&to=${to}`)).data, expected)
    }
  t.same((await list('?to=2020-01-01')).data, [])
  t.same((await list('?from=2999-01-01T00:00Z')).data, [])
  t.same((await list('?from=2999-01-01&to=2020-01-01')).data, [])
})

t.test('a kind selects its lines, also in a period', async t => {
  for (const kind of ['grant', 'withdrawal', 'debit', 'refund']) {
    const expected = lines.filter(line => line.kind === kind)
    t.same(await listAll(`kind=${kind}&limit=1`), expected)
    t.same(await listAll(`kind=${kind}&from=2020-01-01&limit=1`), expected)
  }
})

t.test('a cursor from outside of the period stays within it', async t => {
  const [newest, , middle, , , , oldest] = lines as LedgerLine[]
  t.same((await list(`?to=${oldest?.created_at}&cursor=${newest?.revision}`)).data, [])
  t.same((await list(`?from=${newest?.created_at}&cursor=${oldest?.revision}`)).data, [])
  const expected = lines.filter(line => line.created_at < (middle?.created_at ?? ''))
  t.same((await list(`?to=${middle?.created_at}&cursor=${newest?.revision}`)).data, expected)
})

t.test('a line is listed as soon as its run is answered, and only for its account', async t => {
  const other = await openAccount(service, { tester: true })
  const { body } = await other.run(sandbox())
  const { data } = await list('?limit=1', other)
  t.match(data, [{ kind: 'debit', run_id: body.run_id, credits_balance: 99 }])
  t.equal((await list('', customer)).data.length, lines.length)
})

t.test('an invalid query is refused with the path of its fault and what is valid', async t => {
  const moment = /^is no .*a UTC time such as 2026-11-23T18:00:00Z, or a date|UTC time/i
  const faults: [string, string, RegExp][] = [
    ['from=yesterday', '/from', moment],
    ['from=2026-11-23T10:00:00%2B01:00', '/from', moment],
    ['to=2026-02-31', '/to', /^must be a date or time that exists$/],
    ['from=2026-11-23T25:00Z', '/from', /^must be a date or time that exists$/],
    ['kind=fee', '/kind', /^must be one of grant, withdrawal, debit, refund, release, expiry$/],
    ['cursor=run_x', '/cursor', /./],
    ['cursor=0', '/cursor', /^is no next_cursor of this list$/],
    ['cursor=999999999', '/cursor', /^is no next_cursor of this list$/],
    ['limit=101', '/limit', /^must be at most 100$/],
    ['order=asc', '/order', /^is unknown/],
  ]
  for (const [query, path, message] of faults) {
    const { status, body } = await customer.send(`/v1/ledger?${query}`)
    t.equal(status, 400, query)
    t.equal(body.error.code, 'invalid_request')
    t.equal(body.error.errors?.[0]?.path, path, query)
    t.match(body.error.errors?.[0]?.message, message, query)
  }
})
