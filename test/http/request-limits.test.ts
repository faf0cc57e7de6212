import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { OwnKey } from '../../schemas/api/key.ts'
import { countInRedis } from '../../src/adapters/rate-counter/flexible.ts'
import { isForAccounts } from '../../src/http/operation.ts'
import { routes } from '../../src/http/routes.ts'
import type { ProviderOutcome } from '../../src/ports/provider.ts'
import { request } from '../mcp/support.ts'
import { caughtUp } from '../support/caught-up.ts'
import { type Client, picture } from '../support/client.ts'
import { needsRedis, startRedis } from '../support/redis-server.ts'
import { type Customer, instantProvider, openAccount, type Service, startService } from '../support/service.ts'
import { redisAt } from '../support/store-addresses.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const operator = { kind: 'operator', name: 'ada' } as const
const providers = { sandbox: instantProvider }

const environment = { REQUESTS_PER_MINUTE_PER_KEY: '5', REQUESTS_PER_MINUTE_PER_ACCOUNT: '8' }

/** A client with another key of an account. */
const anotherKey = async ({ core, client }: Service, { accountId }: Customer) => {
  const { apiKey } = unwrap(await core.services.keys.create(operator, accountId, { name: 'other' }))
  await caughtUp(core)
  return client(apiKey)
}

/** Both headers of a response, as the draft writes lists of quoted names with parameters. */
const limitsIn = (headers: Headers) => {
  const items = (name: string) =>
    Object.fromEntries(
      (headers.get(name)?.split(', ') ?? []).map(item => {
        const [, policy = '', parameters = ''] = /^"([a-z]+)"((?:;[a-z]+=\d+)+)$/.exec(item) ?? []
        const pairs = parameters.slice(1).split(';')
        return [policy, Object.fromEntries(pairs.map(pair => [pair[0], Number(pair.slice(2))]))]
      }),
    ) as Record<string, Record<string, number>>
  return { policy: items('RateLimit-Policy'), left: items('RateLimit') }
}

const policy = { key: { q: 5, w: 60 }, account: { q: 8, w: 60 } }

t.test('every request with a key is counted, and the answer says how many are left', async t => {
  const service = await startService(t, { environment, providers })
  const customer = await openAccount(service)
  const { message, headers } = request('2025-11-25', 'tools/call', { name: 'get_balance', arguments: {} })
  const replies = [
    await customer.send('/v1/balance'),
    await customer.send('/v1/runs/run_01m7z4hp40enbs019v3tcadvdx'),
    await customer.send('/v1/balance?at=never'),
    await customer.post('/mcp', message, headers),
    await customer.run(picture),
  ]
  t.same(
    replies.map(({ status }) => status),
    [200, 404, 400, 200, 200],
  )
  for (const [index, { headers }] of replies.entries()) {
    const { policy: policies, left } = limitsIn(headers)
    t.same(policies, policy)
    t.match(left, { key: { r: 4 - index }, account: { r: 7 - index } })
    t.ok(left['key']?.['t'] !== undefined && left['key']['t'] >= 1 && left['key']['t'] <= 60)
  }
  const { balanceMicros } = unwrap(await service.core.services.accounts.find(operator, customer.accountId))

  for (const reply of [await customer.run(picture), await customer.post('/mcp', message, headers)]) {
    const retryAfter = Number(reply.headers.get('Retry-After'))
    t.equal(reply.status, 429)
    t.ok(retryAfter >= 1 && retryAfter <= 60)
    t.equal(reply.body.error.code, 'rate_limited')
    t.match(
      reply.body.error.message,
      /^This API key has sent 5 requests within a minute, which is its limit\. Try again in \d+ seconds?;/,
    )
    const { policy: policies, left } = limitsIn(reply.headers)
    t.same(policies, policy)
    t.match(left, { key: { r: 0, t: retryAfter }, account: undefined })
  }
  const after = unwrap(await service.core.services.accounts.find(operator, customer.accountId))
  t.equal(after.balanceMicros, balanceMicros, 'a refused run costs nothing')
})

t.test('all keys of an account share its limit', async t => {
  const service = await startService(t, { environment, providers })
  const customer = await openAccount(service)
  const other = await anotherKey(service, customer)
  for (let sent = 0; sent < 5; sent++) t.equal((await customer.send('/v1/balance')).status, 200)
  for (let sent = 0; sent < 3; sent++) t.equal((await other.send('/v1/balance')).status, 200)
  const { status, body } = await other.send('/v1/balance')
  t.equal(status, 429)
  t.match(body.error.message, /^The account has sent 8 requests within a minute/)
  t.equal((await (await openAccount(service)).send('/v1/balance')).status, 200, 'another account is not affected')
})

t.test('nothing is counted without a key, or for a key that is refused', async t => {
  const service = await startService(t, { environment, providers })
  const customer = await openAccount(service)
  for (let sent = 0; sent < 10; sent++) {
    for (const path of ['/healthz', '/readyz', '/cdn/none']) {
      const { headers } = await customer.send(path)
      t.notOk(headers.has('RateLimit') || headers.has('RateLimit-Policy'), path)
    }
    const refused = await service.client(`${customer.apiKey.slice(0, -1)}x`).send('/v1/balance')
    t.same([refused.status, refused.headers.has('RateLimit')], [401, false])
  }
  t.match(limitsIn((await customer.send('/v1/balance')).headers).left, { key: { r: 4 } })
})

t.test('every operation behind a key of an account is counted', async t => {
  const service = await startService(t, { environment: { ...environment, REQUESTS_PER_MINUTE_PER_KEY: '1' } })
  const customer = await openAccount(service)
  await customer.send('/v1/balance')
  for (const { id, method, path } of routes.filter(isForAccounts)) {
    const address = path.replaceAll(/:\w+/g, 'run_01h455vb4pex5vsknk084sn02q')
    t.equal((await customer.send(address, { method: method.toUpperCase() })).status, 429, id)
  }
})

t.test('the operator sets exceptions at run time, and ends them', async t => {
  const service = await startService(t, { environment, providers })
  const { accounts } = service.core.services
  const customer = await openAccount(service)
  for (let sent = 0; sent < 5; sent++) await customer.send('/v1/balance')
  t.equal((await customer.send('/v1/balance')).status, 429)
  unwrap(await accounts.setLimits(operator, customer.accountId, { requestsPerMinute: 1000 }))
  await until('the key may go on', async () => (await customer.send('/v1/balance')).status === 200)
  t.match(limitsIn((await customer.send('/v1/balance')).headers).policy, { account: { q: 1000 }, key: undefined })
  unwrap(await accounts.setLimits(operator, customer.accountId, { requestsPerMinute: 1 }))
  await until('the account may do less', async () => (await customer.send('/v1/balance')).status === 429)
  unwrap(await accounts.setLimits(operator, customer.accountId, 'default'))
  await until(
    'the defaults hold',
    async () => limitsIn((await customer.send('/v1/balance')).headers).policy['key']?.['q'] === 5,
  )
})

t.test('a key can read its limits', async t => {
  const inFlight = { RUNS_IN_FLIGHT_PER_KEY: '2', RUNS_IN_FLIGHT_PER_ACCOUNT: '0' }
  const service = await startService(t, { environment: { ...environment, ...inFlight }, providers })
  const customer = await openAccount(service)
  const limits = async () => (await customer.send<OwnKey>('/v1/key')).body.limits
  t.same(await limits(), { requests_per_minute: { key: 5, account: 8 }, runs_in_flight: { key: 2 } })
  unwrap(await service.core.services.accounts.setLimits(operator, customer.accountId, { requestsPerMinute: 1000 }))
  t.same(await limits(), { requests_per_minute: { account: 1000 }, runs_in_flight: { key: 2 } })
})

t.test('without limits there are no headers', async t => {
  const none = { REQUESTS_PER_MINUTE_PER_KEY: '0', REQUESTS_PER_MINUTE_PER_ACCOUNT: '0' }
  const service = await startService(t, { environment: none })
  const { headers } = await (await openAccount(service)).send('/v1/balance')
  t.notOk(headers.has('RateLimit') || headers.has('RateLimit-Policy'))
})

t.test('runs in flight are limited for each key and account', async t => {
  const working: ((outcome: ProviderOutcome) => void)[] = []
  const provider = {
    deduplicates: true,
    submit: () => new Promise<ProviderOutcome>(resolve => working.push(resolve)),
  }
  const service = await startService(t, {
    environment: { RUNS_IN_FLIGHT_PER_KEY: '2', RUNS_IN_FLIGHT_PER_ACCOUNT: '3' },
    providers: { sandbox: provider },
  })
  const customer = await openAccount(service)
  const other = await anotherKey(service, customer)
  const text = { model: 'gpt-6-1-terra', input: { prompt: 'a lake' } }
  const replies = await Promise.all(Array.from({ length: 20 }, () => customer.run(text, { Prefer: 'wait=1' })))
  t.same(replies.map(({ status }) => status).sort(), [202, 202, ...Array(18).fill(429)])
  const refused = replies.find(({ status }) => status === 429)
  t.match(
    refused?.body.error.message,
    /^This API key already has 2 runs in flight, which is its limit\. Try again in 10 seconds/,
  )
  t.equal(refused?.headers.get('Retry-After'), '10')
  t.equal((await other.run(text, { Prefer: 'wait=1' })).status, 202)
  const { status, body } = await other.run(text)
  t.equal(status, 429)
  t.match(body.error.message, /^The account already has 3 runs in flight/)
  for (const end of working.splice(0)) end({ kind: 'done', media: [], text: 'done' })
  await until(
    'runs have ended',
    async () => (await service.core.accounts.state(customer.accountId)).openRuns.size === 0,
  )
  t.equal((await customer.run(text, { Prefer: 'wait=1' })).status, 202)
  for (const end of working.splice(0)) end({ kind: 'done', media: [], text: 'done' })
})

t.test('two processes that share Redis limit the sum', needsRedis(), async t => {
  const redis = await startRedis()
  t.teardown(() => redis.stop())
  const folder = await temporaryFolder(t)
  const shared = {
    ...{ VIEW_STORE_URL: redis.url, VIEW_KEY_SPACE: `test-${randomUUID()}` },
    ...{ REQUESTS_PER_MINUTE_PER_KEY: '40', REQUESTS_PER_MINUTE_PER_ACCOUNT: '0' },
  }
  const start = (environment: Record<string, string>) => {
    // A busy machine answers late, and a process that waits too long counts on its own.
    const address = { keySpace: shared.VIEW_KEY_SPACE, address: redisAt(redis.url), commandMs: 10_000 }
    const rateCounter = countInRedis({ ...address, onAway: () => undefined })
    return startService(t, { folder, environment, providers, rateCounter })
  }
  const services = [await start(shared), await start({ ...shared, ROLES: 'api' })] as const
  const customer = await openAccount(services[0])
  const clients = services.map(({ url }) => customer.at(url))
  const send = async (times: number) => {
    const replies = Array.from({ length: times }, (_, index) => clients[index % 2]?.send('/v1/balance'))
    return (await Promise.all(replies)).map(reply => reply?.status)
  }
  const left = async (client?: Client) => {
    const { status, headers } = (await client?.send('/v1/balance')) ?? {}
    return status === 200 && headers ? (limitsIn(headers).left['key']?.['r'] ?? 0) : 0
  }
  let r = 0
  await until('both processes know the key and count together', async () => {
    const before = await left(clients[0])
    r = await left(clients[1])
    return r > 0 && before - r === 1
  })
  // Two processes that count on their own would answer 80. A busy machine takes a while, in which a few become free.
  const answered = (await send(100)).filter(status => status === 200).length
  t.ok(answered >= r && answered < r + 30, `${answered} are answered, where ${r} were left`)

  await redis.kill()
  // Each process begins to count on its own, and serves what its own count allows.
  for (const client of clients)
    await until('the process goes on', async () => {
      const { status } = await client.run(picture)
      if (status >= 400 && status !== 429) t.fail(`a run is answered with ${status}`)
      return status < 400
    })
  const after = Array.from({ length: 60 }, () => customer.run(picture))
  const found = (await Promise.all(after)).map(({ status }) => status)
  t.ok(found.includes(429), 'which is limited, too')
  t.notOk(found.some(status => status >= 500))
})
