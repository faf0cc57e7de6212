import t from 'tap'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { ApiKey, CreatedKey, KeyList } from '../../schemas/api/key.ts'
import { accountStream } from '../../schemas/events.ts'
import { MAX_KEY_ADDRESSES, MAX_KEY_MODELS } from '../../schemas/primitives.ts'
import type { KeyRow } from '../../schemas/views.ts'
import { sha256 } from '../../src/domain/digest.ts'
import { caughtUp } from '../support/caught-up.ts'
import { picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const clock = new ManualClock(Date.parse('2026-11-25T10:00:00.000Z'))
const service = await startService(t, { clock, providers: { sandbox: instantProvider } })
const { core } = service
const owner = await openAccount(service)
const manager = await openKey(service, owner, { scope: 'keys' })

const create = async (body: object, by = manager) => {
  const reply = await by.post<CreatedKey & ErrorBody>('/v1/keys', { name: 'website', ...body })
  await caughtUp(core)
  return { ...reply, client: service.client(reply.body.api_key) }
}

t.test('a key is shown once, works, is listed, and is refused after its revocation', async t => {
  const { status, headers, body, client } = await create({})
  t.equal(status, 200)
  t.equal(headers.get('Cache-Control'), 'no-store')
  t.match(body, { object: 'api_key', name: 'website', scope: 'full', api_key: /^tg_sk_live_[0-9a-f]{32}$/ })
  t.equal(body.last_four, body.api_key.slice(-4))
  t.equal((await client.run(picture)).status, 200)

  const { text, body: list } = await manager.send<KeyList>('/v1/keys')
  t.equal(list.data[0]?.id, body.id, 'the newest comes first')
  t.notMatch(text, body.api_key)
  const own = await client.send<ApiKey>('/v1/key')
  t.match(own.body, { id: body.id, name: 'website', scope: 'full', last_four: body.last_four })

  t.match(await manager.send(`/v1/keys/${body.id}`, { method: 'DELETE' }), { status: 200, body: { revoked: true } })
  t.match(await client.send('/v1/balance'), { status: 401, body: { error: { code: 'invalid_api_key' } } })
  const { body: after } = await manager.send<KeyList>('/v1/keys')
  t.match(after.data[0], { id: body.id, revoked_at: String })
  t.equal((await manager.send(`/v1/keys/${body.id}`, { method: 'DELETE' })).status, 404)
})

t.test('a name is in one form, and has characters of any script', async t => {
  for (const [given, name] of [
    ['e\u0301'.repeat(64), 'é'.repeat(64)],
    ['می\u200cخواهم 👩\u200d💻', 'می\u200cخواهم 👩\u200d💻'],
  ] as const)
    t.equal((await create({ name: given })).body.name, name)
})

t.test('the list has pages', async t => {
  const other = await openAccount(service, { scope: 'keys' })
  const ids = [other.keyId]
  for (let number = 0; number < 4; number++) ids.push((await create({ name: `key ${number}` }, other)).body.id)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const path: string = `/v1/keys?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`
    const { body }: { body: KeyList } = await other.send<KeyList>(path)
    t.ok(body.data.length <= 2)
    seen.push(...body.data.map(({ id }) => id))
    cursor = body.next_cursor
  } while (cursor !== null)
  t.same(seen, ids.toReversed())
})

t.test('a keys key creates keys of other scopes only', async t => {
  t.match((await create({ scope: 'read' })).body, { scope: 'read' })
  t.match(await create({ scope: 'keys' }), {
    status: 403,
    body: { error: { code: 'forbidden', message: /scope "keys"/ } },
  })
})

t.test('an ID of another account is as unknown as one that does not exist', async t => {
  const stranger = await openAccount(service)
  const [foreign, absent] = await Promise.all(
    [stranger.keyId, 'key_01h455vb4pex5vsknk084sn02q'].map(id =>
      manager.send(`/v1/keys/${id}`, { method: 'DELETE', headers: { 'X-Request-Id': 'same' } }),
    ),
  )
  t.equal(foreign?.status, 404)
  t.equal(foreign?.text, absent?.text)
  t.equal((await stranger.send('/v1/balance')).status, 200)
})

t.test('faults of a new key are named at their place', async t => {
  const many = (count: number, make: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => make(index))
  const faults: [body: object, path: string][] = [
    [{ name: '' }, '/name'],
    [{ name: 'a\u0007' }, '/name'],
    [{ name: 'x'.repeat(65) }, '/name'],
    [{ name: 'a\u202eb' }, '/name'],
    [{ scope: 'all' }, '/scope'],
    [{ expires_at: 'tomorrow' }, '/expires_at'],
    [{ expires_at: '2027-02-30' }, '/expires_at'],
    [{ expires_at: '2026-11-25T10:00:00Z' }, '/expires_at'],
    [{ budget: { credits: 0, period: 'day' } }, '/budget/credits'],
    [{ budget: { credits: -1, period: 'day' } }, '/budget/credits'],
    [{ budget: { credits: 0.0000001, period: 'day' } }, '/budget/credits'],
    [{ budget: { credits: 1e12, period: 'day' } }, '/budget/credits'],
    [{ budget: { credits: 1, period: 'year' } }, '/budget/period'],
    [{ budget: { credits: 1 } }, '/budget/period'],
    [{ models: [] }, '/models'],
    [{ models: ['nano-banana-2', 'no-such-model'] }, '/models/1'],
    [{ models: many(MAX_KEY_MODELS + 1, index => `model-${index}`) }, '/models'],
    [{ models: ['sandbox'] }, '/models/0'],
    [{ addresses: [] }, '/addresses'],
    [{ addresses: many(MAX_KEY_ADDRESSES + 1, index => `10.0.0.${index}`) }, '/addresses'],
    ...[
      '10.0.0.0/33',
      '10.0.0',
      '010.0.0.1',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/08',
      '::/129',
      'fe80::1%1',
      'x',
    ].map((address): [object, string] => [{ addresses: ['10.0.0.1', address] }, '/addresses/1']),
    [{ limit: 5 }, '/limit'],
  ]
  const created = async () => (await core.accounts.currentState(owner.accountId)).activeKeys.size
  const before = await created()
  for (const [body, path] of faults) {
    const reply = await create(body)
    t.equal(reply.status, 400, JSON.stringify(body))
    t.equal(reply.body.error.code, 'invalid_request')
    t.equal(reply.body.error.errors?.[0]?.path, path, JSON.stringify(body))
  }
  t.equal(await created(), before)
})

t.test('a key expires at its millisecond, with a message that says so', async t => {
  const { client, body } = await create({ expires_at: '2026-11-26T00:00:00Z' })
  t.equal(body.expires_at, '2026-11-26T00:00:00.000Z')
  const now = clock.nowMs()
  const expiryMs = Date.parse('2026-11-26T00:00:00.000Z')
  clock.advance(expiryMs - 1 - now)
  t.equal((await client.send('/v1/balance')).status, 200)
  t.equal((await client.run(picture)).status, 200)
  clock.advance(1)
  for (const reply of [await client.send('/v1/balance'), await client.run(picture), await client.send('/v1/key')]) {
    t.match(reply, { status: 401, body: { error: { code: 'invalid_api_key', message: /has expired/ } } })
    t.equal(reply.headers.get('WWW-Authenticate'), 'Bearer')
  }
})

t.test('a budget is kept, shown, and renewed', async t => {
  const { client } = await create({ budget: { credits: 15, period: 'day' } })
  t.equal((await client.run(picture)).status, 200)
  const refused = await client.run(picture)
  t.match(refused, {
    status: 402,
    body: {
      error: {
        code: 'budget_exceeded',
        message: /budget of 15 credits for today/,
        ...{ required_credits: 10, budget_credits: 15, spent_credits: 10, renews_at: '2026-11-27T00:00:00.000Z' },
      },
    },
  })
  const budget = {
    credits: 15,
    period: 'day',
    spent_credits: 10,
    credits_left: 5,
    renews_at: '2026-11-27T00:00:00.000Z',
  }
  t.same((await client.send<ApiKey>('/v1/key')).body.budget, budget)
  t.same((await manager.send<KeyList>('/v1/keys')).body.data[0]?.budget, budget)
  t.equal((await client.post('/v1/run?dry_run=true', picture)).status, 200, 'a dry run spends nothing')
  clock.advance(24 * 60 * 60 * 1000)
  t.match((await client.send<ApiKey>('/v1/key')).body.budget, { spent_credits: 0, credits_left: 15 })
  t.equal((await client.run(picture)).status, 200)
})

t.test('an operator’s refund gives back to the period of its debit', async t => {
  const { client } = await create({ budget: { credits: 10, period: 'day' } })
  const { body } = await client.run(picture)
  t.equal((await client.run(picture)).status, 402)
  const refund = { amountMicros: 4_000_000, reason: 'it was black' }
  await core.services.refunds.refund({ kind: 'operator', name: 'ada' }, body.run_id, refund)
  t.match((await client.send<ApiKey>('/v1/key')).body.budget, { spent_credits: 6, credits_left: 4 })
  clock.advance(24 * 60 * 60 * 1000)
  t.equal((await client.run(picture)).status, 200)
  await core.services.refunds.refund({ kind: 'operator', name: 'ada' }, body.run_id, { reason: 'all of it' })
  t.match((await client.send<ApiKey>('/v1/key')).body.budget, { spent_credits: 10, credits_left: 0 })
})

t.test('a key runs and lists only the models that it is restricted to', async t => {
  const { client, body } = await create({ models: ['nano', 'seedream-4-5-i2i', 'nano-banana-2'] })
  t.same(body.models, ['nano-banana-2', 'seedream-4-5-i2i'], 'an alias is written as its family, once')
  t.equal((await client.run(picture)).status, 200)
  const text = { model: 'gpt-6-1-terra', input: { prompt: 'a lake' } }
  const other = { model: 'seedream-4-5', input: picture.input }
  const before = await client.balance()
  for (const request of [text, other])
    for (const path of ['/v1/run', '/v1/run?dry_run=true']) {
      const { status, body } = await client.post(path, request)
      t.match(
        { status, body },
        { status: 403, body: { error: { code: 'forbidden', message: /restricted to nano-banana-2, see/ } } },
      )
    }
  t.equal(await client.balance(), before)
  const listed = await client.send<{ data: { id: string; endpoints: { id: string }[] }[] }>('/v1/models')
  t.same(listed.body.data.flatMap(({ endpoints }) => endpoints.map(({ id }) => id)).toSorted(), [
    'nano-banana-2-i2i',
    'nano-banana-2-t2i',
    'seedream-4-5-i2i',
  ])
  t.equal((await client.send('/v1/models/nano-banana-2')).status, 200)
  t.equal((await client.send('/v1/models/gpt-6-1-terra')).status, 403)
  t.equal((await client.send('/v1/models/no-such-model')).status, 404)
  // Another part of a family has the same revision, and must not be answered from the same cache.
  t.equal((await client.send('/v1/models/seedream-4-5')).status, 200)
  const { client: texts } = await create({ models: ['seedream-4-5-t2i'] })
  const { body: family } = await texts.send<{ endpoints: { id: string }[] }>('/v1/models/seedream-4-5')
  t.same(
    family.endpoints.map(({ id }) => id),
    ['seedream-4-5-t2i'],
  )
})

t.test('the use of a key is recorded once a day, after an answer that was no refusal', async t => {
  const { client, body } = await create({})
  const uses = async () =>
    (await collect(core.log.readStream(accountStream(owner.accountId), 0))).filter(
      ({ type, data }) => type === 'ApiKeyUsed' && (data as { keyId: string }).keyId === body.id,
    )
  for (const path of ['/v1/keys', '/v1/runs/nothing', '/v1/balance?at=never']) await client.send(path)
  await client.run({ model: 'nothing', input: {} })
  t.same(await uses(), [])
  await Promise.all(Array.from({ length: 50 }, () => client.send('/v1/balance')))
  await until('the use is recorded', async () => (await uses()).length > 0)
  await client.send('/v1/balance')
  await caughtUp(core)
  t.equal((await uses()).length, 1)
  const { data } = (await manager.send<KeyList>('/v1/keys')).body
  t.equal(data.find(({ id }) => id === body.id)?.last_used_at, new Date(clock.nowMs()).toISOString())
  clock.advance(24 * 60 * 60 * 1000)
  await client.send('/v1/balance')
  await until('the next day is recorded', async () => (await uses()).length === 2)
})

t.test('a keys key reads what it manages and nothing else', async t => {
  t.match((await manager.send<ApiKey>('/v1/key')).body, { scope: 'keys' })
  t.equal((await manager.send('/v1/balance')).status, 403)
})

t.test('forged rows of keys give neither access nor a budget', async t => {
  const { client, body } = await create({ budget: { credits: 10, period: 'month' }, expires_at: '2100-01-01' })
  t.equal((await client.run(picture)).status, 200)
  const hash = sha256(body.api_key)
  const [stranger, unknown] = [await openAccount(service), `tg_sk_live_${'7'.repeat(32)}`]
  await caughtUp(core)
  const row = await core.views.get<KeyRow>('keys', hash)
  const checkpoint = await core.views.checkpoint()
  if (!row || !checkpoint) throw new Error('the views are empty')
  const { budget: _, ...unlimited } = row
  const forged = [
    [hash, { ...unlimited, models: ['gpt-6-1-terra'] }],
    [sha256(unknown), { ...row, accountId: stranger.accountId, keyId: stranger.keyId }],
  ] as const
  const cells = forged.map(([key, value]) => ({ address: `rows/keys/${key}`, value: JSON.stringify(value) }))
  await core.views.replaceCells(cells, checkpoint, checkpoint)
  t.match(await client.run(picture), { status: 402, body: { error: { code: 'budget_exceeded' } } })
  t.match(
    await service.client(unknown).send('/v1/balance'),
    { status: 503 },
    'a row in its place may have been genuine',
  )
  await until(
    'the views are rebuilt',
    async () => (await client.send<ApiKey>('/v1/key')).body.budget?.spent_credits === 10,
  )
  t.match(await service.client(unknown).send('/v1/balance'), { status: 401 })
})
