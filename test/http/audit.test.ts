import t, { type Test } from 'tap'
import type {
  AuditedAccount,
  AuditedAccountList,
  AuditedReadList,
  SealList,
  Verification,
} from '../../schemas/api/audit.ts'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import { AUDITORS_STREAM, accountStream, READS_STREAM, SEALS_STREAM } from '../../schemas/events.ts'
import { MAX_READS_AT_ONCE } from '../../src/domain/auditors/reads.ts'
import { templateOf } from '../../src/http/operation.ts'
import { routes } from '../../src/http/routes.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import type { Client } from '../support/client.ts'
import { picture } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { openLog } from '../support/engine.ts'
import { instantProvider, openAccount, openFolder, type Service, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const operator = { kind: 'operator', name: 'olga' } as const
const ACCOUNT = 'acct_01h455vb4pex5vsknk084sn02q'
const ROUTES = ['accounts', `ledger?account=${ACCOUNT}`, 'seals', 'reads', 'verify'].map(route => `/v1/audit/${route}`)

type Auditor = Client & { auditorId: string; apiKey: string }

const openAuditor = async ({ core, client }: Service, name: string): Promise<Auditor> => {
  const { auditorId, apiKey } = unwrap(await core.services.auditors.create(operator, name))
  return Object.assign(client(apiKey), { auditorId, apiKey })
}

const readsOf = ({ core }: Service) => collect(core.log.readStream(READS_STREAM, 0))

const started = (t: Test, environment: Record<string, string> = {}) =>
  startService(t, { providers: { sandbox: instantProvider }, environment })

const service = await started(t, { SEAL_EVENTS: '1' })
const customer = await openAccount(service, { credits: 200 })
await customer.run(picture)
const others = [await openAccount(service), await openAccount(service), await openAccount(service)]
const ada = await openAuditor(service, 'ada')

t.test('auditors list all accounts, newest first, with the balance and the link of the last event', async t => {
  const found: AuditedAccount[] = []
  let cursor: string | null = null
  do {
    const page: { body: AuditedAccountList } = await ada.send<AuditedAccountList>(
      `/v1/audit/accounts?limit=3${cursor ? `&cursor=${cursor}` : ''}`,
    )
    found.push(...page.body.data)
    cursor = page.body.next_cursor
  } while (cursor)
  t.same(
    found.map(({ account_id }) => account_id),
    [...others.toReversed(), customer].map(({ accountId }) => accountId),
  )
  for (const each of found) {
    const last = (await collect(service.core.log.readStream(accountStream(each.account_id), 0))).at(-1)
    t.match(last, { revision: each.revision, metadata: { hash: each.link } })
  }
  t.equal(found.at(-1)?.credits_balance, await customer.balance())
  t.match(found.at(-1), { object: 'account', email: /@example\.com$/, tester: false, opened_at: /^2/ })
})

t.test('auditors see the lines of any account as its owner does', async t => {
  for (const query of ['', '&limit=1', '&kind=debit', '&from=2026-01-01']) {
    const own = await customer.send<LedgerList>(`/v1/ledger?${query.slice(1)}`)
    const seen = await ada.send<LedgerList>(`/v1/audit/ledger?account=${customer.accountId}${query}`)
    t.equal(seen.status, 200)
    t.same(seen.body, own.body)
  }
  const { body } = await ada.send<LedgerList>(`/v1/audit/ledger?account=${customer.accountId}&limit=1`)
  const next = await ada.send<LedgerList>(
    `/v1/audit/ledger?account=${customer.accountId}&limit=1&cursor=${body.next_cursor}`,
  )
  t.match(next.body.data, [{ kind: 'grant', credits: 200 }])
})

t.test('auditors list the seals, newest first, without the keys that signed them', async t => {
  const numbers = await until('there are three seals', async () => {
    const { body } = await ada.send<SealList>('/v1/audit/seals?limit=2')
    const [newest, before] = body.data
    return newest && before && newest.number > 2 && [newest.number, before.number, body.next_cursor]
  })
  const [newest = 0, before, cursor] = numbers as [number, number, string]
  t.same([before, cursor], [newest - 1, `${newest - 1}`])
  const { body: next } = await ada.send<SealList>(`/v1/audit/seals?cursor=${cursor}&limit=100`)
  t.same(
    next.data.map(({ number }) => number),
    Array.from({ length: newest - 2 }, (_, index) => newest - 2 - index),
    'revision 0 is the adoption of a key',
  )
  t.match(next, { has_more: false, next_cursor: null })
  t.same(next.data.at(-1), (await customer.send('/v1/ledger/seal?number=1')).body)
})

t.test('each read is recorded with the auditor, what was read, and the request', async t => {
  const before = (await readsOf(service)).length
  const path = `/v1/audit/ledger?account=${customer.accountId}&limit=7&from=2026-01-01&kind=debit`
  await ada.send(path, { headers: { 'X-Request-Id': 'request-7' } })
  const added = (await readsOf(service)).slice(before)
  const parameters = { account: customer.accountId, limit: 7, from: '2026-01-01', kind: 'debit' }
  t.match(added, [
    {
      type: 'AuditorRead',
      data: { auditorId: ada.auditorId, route: 'ledger', parameters },
      metadata: { actor: { kind: 'auditor', name: 'ada' }, requestId: 'request-7' },
    },
  ])
  const { body } = await ada.send<AuditedReadList>('/v1/audit/reads?limit=1')
  t.match(body, {
    data: [
      {
        object: 'audit_read',
        revision: before,
        auditor_id: ada.auditorId,
        auditor: 'ada',
        route: 'ledger',
        parameters,
        request_id: 'request-7',
      },
    ],
    has_more: true,
    next_cursor: `${before}`,
  })
  const bob = await openAuditor(service, 'bob')
  const { body: earlier } = await bob.send<AuditedReadList>(`/v1/audit/reads?limit=100&cursor=${before}`)
  t.equal(earlier.data.length, Math.min(before, 100), 'every auditor sees the reads of all')
})

t.test('auditors verify the log, or one account', async t => {
  const { status, body } = await ada.send<Verification>('/v1/audit/verify')
  t.match(
    { status, body },
    { status: 200, body: { object: 'verification', account_id: null, valid: true, faults: [] } },
  )
  t.ok(body.events > 20)
  t.ok(body.position <= (await service.core.log.head()))
  const one = await ada.send<Verification>(`/v1/audit/verify?account=${customer.accountId}`)
  t.match(one.body, { account_id: customer.accountId, valid: true, seal: null, unsealed_events: null })
  t.ok(one.body.events < body.events)
})

t.test('a client that leaves ends its verification, and another may begin', async t => {
  const before = (await readsOf(service)).length
  const leave = new AbortController()
  const left = ada.send('/v1/audit/verify', { signal: leave.signal }).catch(error => error)
  await until('it has begun', async () => (await readsOf(service)).length > before)
  leave.abort()
  t.equal((await left).name, 'AbortError')
  await until('the next one runs', async () => (await ada.send('/v1/audit/verify')).status === 200, { pollMs: 1000 })
})

t.test('auditors may name the whole URL in the request line, as clients of proxies do', async t => {
  t.equal((await ada.sendRaw(`${ada.url}/v1/audit/seals`)).status, 200)
  t.equal((await ada.sendRaw(`${ada.url}/v1/balance`)).status, 403)
})

t.test('auditors get 403 everywhere else, also where no key is needed, and nothing happens', async t => {
  const elsewhere = routes.filter(({ auth }) => auth !== 'auditor key')
  const before = await collect(service.core.log.readStream(AUDITORS_STREAM, 0))
  const reads = await readsOf(service)
  for (const operation of elsewhere) {
    const path = templateOf(operation).replaceAll(/\{\w+\}/g, 'x')
    const method = operation.method.toUpperCase()
    const { status, body } = await ada.send(path, { method, ...(method === 'POST' && { body: '{}' }) })
    t.match({ status, body }, { status: 403, body: { error: { code: 'forbidden' } } }, operation.id)
  }
  for (const path of ['/mcp', '/nowhere', '/v1/audit', '/v1/auditors', '//v1/audit/reads', '/V1/audit/reads'])
    t.equal((await fetch(service.url + path, { headers: { Authorization: `Bearer ${ada.apiKey}` } })).status, 403, path)
  for (const path of ['/v1/audit/', '/v1/audit/nowhere', '/v1/audit/../balance', '/v1/audit/../../healthz'])
    t.equal((await ada.sendRaw(path)).status, 404, path)
  t.ok(elsewhere.length > 25)
  t.same(await readsOf(service), reads)
  t.same(await collect(service.core.log.readStream(AUDITORS_STREAM, 0)), before)
})

t.test('no other key opens what auditors read, and no event is written', async t => {
  const head = (await readsOf(service)).length
  const keys = await Promise.all(
    (['full', 'read', 'keys'] as const).map(async scope => (await openAccount(service, { scope })).apiKey),
  )
  for (const path of ROUTES) {
    for (const key of keys)
      t.match(await service.client(key).send(path), { status: 403, body: { error: { code: 'forbidden' } } })
    for (const key of [undefined, 'x', `tg_ak_${'0'.repeat(32)}`, `${ada.apiKey}0`])
      t.match(await service.client(key).send(path), { status: 401, body: { error: { code: 'invalid_api_key' } } })
  }
  t.equal((await readsOf(service)).length, head)
})

t.test('requests that are refused are no reads', async t => {
  const { accountId } = customer
  const head = (await readsOf(service)).length
  const refused: [string, number][] = [
    ['/v1/audit/ledger', 400],
    ['/v1/audit/ledger?account=x', 400],
    [`/v1/audit/ledger?account=${ACCOUNT}`, 404],
    [`/v1/audit/verify?account=${ACCOUNT}`, 404],
    [`/v1/audit/ledger?account=${accountId}&limit=101`, 400],
    [`/v1/audit/ledger?account=${accountId}&from=2026-02-30`, 400],
    [`/v1/audit/ledger?account=${accountId}&cursor=${accountId}`, 400],
    [`/v1/audit/ledger?account=${accountId}&cursor=999999`, 400],
    ['/v1/audit/accounts?cursor=3', 400],
    [`/v1/audit/accounts?cursor=${ACCOUNT}`, 400],
    ['/v1/audit/accounts?limit=0', 400],
    [`/v1/audit/seals?cursor=${accountId}`, 400],
    ['/v1/audit/seals?cursor=999999', 400],
    ['/v1/audit/reads?cursor=999999', 400],
    ['/v1/audit/reads?account=x', 400],
    ['/v1/audit/verify?limit=1', 400],
  ]
  for (const [path, status] of refused) t.equal((await ada.send(path)).status, status, path)
  for (const path of ROUTES)
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) t.equal((await ada.send(path, { method })).status, 405)
  t.equal((await readsOf(service)).length, head)
})

t.test('what cannot be recorded is not read out', async t => {
  const log = await openLog(t)
  let isDown = false
  const { append } = log
  const service = await startService(t, {
    log: {
      ...log,
      append: (stream, events, revision) =>
        isDown && stream === READS_STREAM ? Promise.reject(new Unavailable('down')) : append(stream, events, revision),
    },
  })
  const { accountId } = await openAccount(service)
  const eve = await openAuditor(service, 'eve')
  isDown = true
  for (const path of ['accounts', `ledger?account=${accountId}`, 'seals', 'reads', 'verify']) {
    const { status, text } = await eve.send(`/v1/audit/${path}`)
    t.equal(status, 503)
    t.notMatch(text, accountId)
  }
  isDown = false
  t.equal((await eve.send('/v1/audit/accounts')).status, 200)
  t.equal((await readsOf(service)).length, 1)
})

t.test('a key that another process revokes reads nothing more, at once', async t => {
  const folder = await temporaryFolder(t)
  const service = await startService(t, { folder })
  const eve = await openAuditor(service, 'eve')
  t.equal((await eve.send('/v1/audit/accounts')).status, 200)
  const other = await openFolder(folder)
  t.teardown(() => other.close())
  unwrap(await other.services.auditors.revoke(operator, { auditorId: eve.auditorId }))
  for (const path of ROUTES) t.equal((await eve.send(path)).status, 401)
  t.equal((await readsOf(service)).length, 1)
  await until('the key opens nothing elsewhere either', async () => (await eve.send('/v1/balance')).status === 401)
  t.equal((await eve.send('/healthz')).status, 200, 'it is no key any more')
})

t.test('a key that is revoked while its read is recorded gets no answer', async t => {
  const log = await openLog(t)
  let whenRecorded = async () => {}
  const { append } = log
  const service = await startService(t, {
    log: {
      ...log,
      append: async (stream, events, revision) => {
        const appended = await append(stream, events, revision)
        if (stream === READS_STREAM) await whenRecorded()
        return appended
      },
    },
  })
  const eve = await openAuditor(service, 'eve')
  whenRecorded = async () => {
    unwrap(await service.core.services.auditors.revoke(operator, { name: 'eve' }))
  }
  const { status, body } = await eve.send('/v1/audit/accounts')
  t.match({ status, body }, { status: 401, body: { error: { code: 'invalid_api_key' } } })
})

t.test('an auditor may read only so often, and others are not held up by that', async t => {
  const service = await started(t)
  const [eve, bob] = [await openAuditor(service, 'eve'), await openAuditor(service, 'bob')]
  const answers = await Promise.all(
    Array.from({ length: 3 * MAX_READS_AT_ONCE }, () => eve.send('/v1/audit/seals?limit=1')),
  )
  const count = (status: number) => answers.filter(answer => answer.status === status).length
  t.ok(count(200) >= MAX_READS_AT_ONCE)
  t.ok(count(429) > 0)
  t.equal(count(200) + count(429), answers.length)
  t.equal((await readsOf(service)).length, count(200), 'a refused request costs no event')
  const refused = answers.find(({ status }) => status === 429)
  t.match(refused?.body, { error: { code: 'rate_limited', message: /reads too much at once/ } })
  t.ok(Number(refused?.headers.get('Retry-After')) >= 1)
  t.equal((await bob.send('/v1/audit/seals')).status, 200)
})

t.test('reads cause no seal, and neither do seals', async t => {
  const service = await started(t, { SEAL_EVENTS: '1' })
  const eve = await openAuditor(service, 'eve')
  await openAccount(service)
  const { log } = service.core
  const count = async () => (await collect(log.readStream(SEALS_STREAM, 0))).length
  const sealed = async () => {
    const seals = await collect(log.readStream(SEALS_STREAM, 0))
    return (seals.at(-1)?.data as { events?: number } | undefined)?.events ?? 0
  }
  const all = (await collect(log.readAll(-1))).filter(({ stream }) => stream !== SEALS_STREAM).length
  await until('all is sealed', async () => (await sealed()) === all)
  const before = await count()
  for (let read = 0; read < 20; read++) await eve.send('/v1/audit/seals')
  t.equal(await count(), before)
  // The sealer has seen the reads once it seals what came after them.
  await openAccount(service)
  await until('the reads are sealed too', async () => (await sealed()) > all + 20)
})
