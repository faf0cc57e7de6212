import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import { lineKey } from '../../projections/statement.ts'
import type { LedgerLine, LedgerList } from '../../schemas/api/ledger.ts'
import type { StatementRow } from '../../schemas/views.ts'
import type { Reads } from '../../src/services/views/reads.ts'
import { grantCredits } from '../support/account-samples.ts'
import { sandbox } from '../support/client.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startService(t)
const operator = { kind: 'operator', name: 'test' } as const
const { reads, accounts } = service.core

const grant = async ({ accountId }: Customer, times: number) => {
  for (let time = 0; time < times; time++)
    await accounts.execute(operator, accountId, { ...grantCredits(1), reference: crypto.randomUUID() })
}

const linesOf = (text: string): LedgerLine[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))

t.test('an export holds every line in the shape of the list, oldest first', async t => {
  const customer = await openAccount(service, { tester: true })
  await grant(customer, 60)
  await customer.run(sandbox({ outcome: 'provider_error' }))
  const { body } = await customer.send<LedgerList>('/v1/ledger?limit=100')
  const expected = body.data.toReversed()
  t.equal(expected.length, 63)
  const { status, headers, text } = await customer.send('/v1/ledger/export')
  t.equal(status, 200)
  t.match(headers.get('Content-Type'), /^application\/x-ndjson/)
  t.same(linesOf(text), expected)
  t.match(linesOf(text).at(-1), { kind: 'refund', model: 'sandbox' })

  const { created_at: from = '' } = expected[10] as LedgerLine
  const { created_at: to = '' } = expected[50] as LedgerLine
  t.same(
    linesOf((await customer.send(`/v1/ledger/export?from=${from}&to=${to}`)).text),
    expected.filter(({ created_at }) => created_at >= from && created_at < to),
  )
  t.equal((await customer.send('/v1/ledger/export?to=2020-01-01')).text, '')
  t.equal((await customer.send('/v1/ledger/export', { method: 'HEAD' })).status, 200)
})

t.test('lines that are written during an export are left out', async t => {
  const customer = await openAccount(service)
  const { accountId, keyId } = customer
  await grant(customer, 60)
  const caller = { kind: 'key', accountId, keyId, scope: 'full' } as const
  const parts = unwrap(await service.core.services.ledger.export(caller, {}))
  const found: number[] = []
  for await (const entries of parts) {
    found.push(...entries.map(({ line }) => line.revision))
    await grant(customer, 30)
    await reads.ownWrites(accountId)
  }
  t.equal(found.length, 61)
})

t.test('a malformed period is refused', async t => {
  const customer = await openAccount(service)
  const { status, body } = await customer.send('/v1/ledger/export?from=2026-13-01')
  t.equal(status, 400)
  t.match(body.error.errors, [{ path: '/from' }])
})

/** Gives every account a ledger without an end, and counts the reads of it. */
const makeEndless = (t: Test) => {
  const { list } = reads
  const counts = { reads: 0 }
  const endless = async (
    _view: string,
    _index: string,
    range: { prefix: string; after?: string; newestFirst?: boolean; limit: number },
  ) => {
    counts.reads += 1
    const first = range.newestFirst ? 999_999_999 : Number(range.after?.slice(-9) ?? 0) + 1
    return Array.from({ length: range.limit }, (_, index) => {
      const revision = first + index
      const row: StatementRow = {
        ...{ eventId: crypto.randomUUID(), revision, at: '2026-11-23T10:00:00.000Z', kind: 'grant' as const },
        ...{ amountMicros: 1, balanceAfterMicros: revision, grantKind: 'courtesy' as const, reason: 'x'.repeat(200) },
      }
      const key = lineKey(range.prefix.slice(0, -1), revision)
      return { place: key, key, row }
    })
  }
  reads.list = endless as unknown as Reads['list']
  t.teardown(() => {
    reads.list = list
  })
  return counts
}

/** Begins an export and reads its first bytes. */
const begin = async ({ url, apiKey }: Customer) => {
  const request = get(`${url}/v1/ledger/export`, { headers: { Authorization: `Bearer ${apiKey}` } })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await once(answer, 'readable')
  answer.read(1)
  return { answer, leave: () => request.destroy() }
}

t.test('an export is read no faster than its client takes it, and ends when the client leaves', async t => {
  const customer = await openAccount(service)
  const counts = makeEndless(t)
  const { answer, leave } = await begin(customer)
  answer.on('error', () => undefined)
  await until('the export waits for its client', async () => {
    const before = counts.reads
    await new Promise(resolve => setTimeout(resolve, 200))
    return counts.reads === before
  })
  t.ok(counts.reads < 500, 'no more than the buffers of the connection take')
  leave()
  await until('the account may begin another export', async () => {
    const next = await begin(customer)
    next.answer.on('error', () => undefined)
    next.leave()
    return next.answer.statusCode === 200
  })
})

t.test('an account has one export open at a time', async t => {
  const [customer, other] = [await openAccount(service), await openAccount(service)]
  makeEndless(t)
  const open = [await begin(customer), await begin(other)]
  for (const { answer } of open) answer.on('error', () => undefined)
  t.same(
    open.map(({ answer }) => answer.statusCode),
    [200, 200],
  )
  const headers = { Authorization: `Bearer ${customer.apiKey}` }
  const refused = await fetch(`${customer.url}/v1/ledger/export`, { headers })
  t.equal(refused.status, 429)
  t.equal(refused.headers.get('Retry-After'), '10')
  // An export that is allowed would not end.
  const text = refused.ok ? await refused.body?.cancel() : await refused.text()
  t.match(text, /"rate_limited".*already has an export open/)
  for (const { leave } of open) leave()
})

t.test(
  'a connection is cut when the key of its export is revoked, so that a part is not taken for the whole',
  async t => {
    const customer = await openAccount(service)
    makeEndless(t)
    const { answer } = await begin(customer)
    unwrap(await service.core.services.keys.revoke(operator, customer.accountId, customer.keyId))
    await t.rejects(answer.resume().toArray(), { code: 'ECONNRESET' })
  },
)

t.test('views that cannot be read are reported before the first line', async t => {
  const customer = await openAccount(service)
  const { list } = reads
  reads.list = () => Promise.reject(new Error('broken'))
  const { status, headers, body } = await customer.send('/v1/ledger/export')
  reads.list = list
  t.equal(status, 500)
  t.match(headers.get('Content-Type'), /^application\/json/)
  t.equal(body.error.code, 'internal_error')
  t.equal((await customer.send('/v1/ledger/export')).status, 200)
})
