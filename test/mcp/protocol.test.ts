import { connect as connectSocket } from 'node:net'
import t from 'tap'
import { MAX_JSON_DEPTH, MAX_MCP_BYTES } from '../../schemas/primitives.ts'
import { picture, sandbox } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { errorOf, post, type Revision, request, revisions, type Sent } from './support.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const customer = await openAccount(service)
const [old, present] = revisions

const balance = (revision: Revision = present) =>
  request(revision, 'tools/call', { name: 'get_balance', arguments: {} })

/** The same message with other headers. Undefined headers are removed. */
const withHeaders = ({ headers, message }: Sent, others: Record<string, string | undefined>): Sent => {
  const all = Object.entries({ ...headers, ...others })
  return { headers: Object.fromEntries(all.filter((each): each is [string, string] => each[1] !== undefined)), message }
}

t.test('a stateless request is answered without a session', async t => {
  for (const revision of revisions) {
    const { status, headers, message } = await post(customer, balance(revision))
    t.equal(status, 200)
    t.match(headers.get('Content-Type'), revision === old ? /^text\/event-stream/ : /^application\/json/)
    t.match(message, { jsonrpc: '2.0', id: 1, result: { structuredContent: { credits_balance: 100 } } })
    t.equal(headers.get('Mcp-Session-Id'), null)
    t.match(headers.get('X-Request-Id'), /^[0-9a-f-]{36}$/)
  }
})

t.test('only the key identifies the account, not a session id or connection', async t => {
  const other = await openAccount(service, { credits: 7 })
  for (const revision of revisions)
    for (const [{ apiKey, url }, credits] of [
      [customer, 100],
      [other, 7],
    ] as const) {
      const call = withHeaders(balance(revision), { 'Mcp-Session-Id': 'the-same-for-both' })
      const { message } = await post({ url, apiKey }, call)
      t.equal(message.result.structuredContent.credits_balance, credits)
    }
})

/** Sends a request with a host or target that ordinary clients do not send. */
const sendRaw = (target: string, host: string, { headers, message }: Sent): Promise<string> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify(message)
    const { hostname, port } = new URL(customer.url)
    const lines = Object.entries({
      ...headers,
      Host: host,
      Authorization: `Bearer ${customer.apiKey}`,
      'Content-Length': body.length,
      Connection: 'close',
    }).map(([name, value]) => `${name}: ${value}`)
    const socket = connectSocket(Number(port), hostname, () =>
      socket.write(`POST ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`),
    )
    let text = ''
    socket.setEncoding('utf8').on('data', part => {
      text += part
    })
    socket.on('error', reject).on('close', () => resolve(text))
  })

t.test('the Host header does not matter', async t => {
  for (const revision of revisions) {
    for (const host of ['[', 'a b', 'foo:99999', 'me@y', '<script>', 'a%zz', '#'])
      t.match(await sendRaw('/mcp?api_key=secret', host, balance(revision)), /^HTTP\/1.1 200 .*credits_balance/s, host)
    t.match(await sendRaw(`${customer.url}/mcp`, 'a', balance(revision)), /^HTTP\/1.1 200 .*credits_balance/s)
  }
})

t.test('a client that does not ask for a stream by name gets one JSON document', async t => {
  const axios = 'application/json, text/plain, */*'
  for (const revision of revisions)
    for (const accept of [undefined, '*/*', 'application/json', 'application/*', axios]) {
      const reply = await post(customer, withHeaders(balance(revision), { Accept: accept }))
      t.equal(reply.status, 200)
      t.match(reply.headers.get('Content-Type'), /^application\/json\b/)
      t.equal(JSON.parse(reply.text).result.structuredContent.credits_balance, 100)
    }
})

t.test('a client that reads no streams can call every method', async t => {
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'plain', version: '1' } },
  }
  const plain = (message: object) => post(customer, { headers: { 'Content-Type': 'application/json' }, message })
  t.match(JSON.parse((await plain(initialize)).text), { id: 1, result: { protocolVersion: '2025-11-25' } })
  t.equal((await plain({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202)
  t.match(JSON.parse((await plain({ jsonrpc: '2.0', id: 2, method: 'tools/list' })).text).result.tools.length, 11)
  const call = { name: 'run_model', arguments: picture, _meta: { progressToken: 1 } }
  const ran = await plain({ jsonrpc: '2.0', id: 3, method: 'tools/call', params: call })
  t.equal(JSON.parse(ran.text).result.structuredContent.status, 'completed')
  t.match(JSON.parse((await plain({ jsonrpc: '2.0', id: 4, method: 'nonsense' })).text), { error: { code: -32601 } })
})

t.test('a progress token over 1,000 characters gets no progress', async t => {
  const sandboxes = await startService(t)
  const tester = await openAccount(sandboxes, { tester: true })
  for (const [progressToken, hasProgress] of [
    ['x'.repeat(1000), true],
    ['x'.repeat(1001), false],
  ] as const) {
    const params = { name: 'run_model', arguments: sandbox({ delay_ms: 300 }), _meta: { progressToken } }
    const { message, text } = await post(tester, request(present, 'tools/call', params))
    t.equal(message.result.structuredContent.status, 'completed')
    t.equal(text.includes('notifications/progress'), hasProgress)
  }
})

t.test('requests without a valid key get 401', async t => {
  const { url } = customer
  for (const revision of revisions)
    for (const apiKey of [undefined, 'tg_sk_live_00000000000000000000000000000000']) {
      const { status, headers, text } = await post({ url, ...(apiKey && { apiKey }) }, balance(revision))
      t.equal(status, 401)
      t.equal(headers.get('WWW-Authenticate'), 'Bearer')
      t.equal(JSON.parse(text).error.code, 'invalid_api_key')
    }
})

t.test('methods for streams and sessions get 405', async t => {
  for (const client of [customer, service.client()])
    for (const method of ['GET', 'DELETE', 'HEAD', 'PUT', 'PATCH']) {
      const { status, headers, text } = await client.send('/mcp', { method, headers: { Accept: 'text/event-stream' } })
      t.equal(status, 405)
      t.equal(headers.get('Allow'), 'POST')
      if (method !== 'HEAD') t.equal(JSON.parse(text).error.code, 'method_not_allowed')
    }
})

t.test('the server describes itself in both revisions', async t => {
  const clientInfo = { name: 'test', version: '1' }
  for (const [requested, answered] of [
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
  ]) {
    const hello = request(old, 'initialize', { protocolVersion: requested, capabilities: {}, clientInfo })
    const { message } = await post(customer, withHeaders(hello, { 'MCP-Protocol-Version': undefined }))
    t.match(message.result, { protocolVersion: answered, serverInfo: { name: 'tollgate' } })
    t.same(message.result.capabilities, { tools: { listChanged: false } })
  }
  const { message } = await post(customer, request(present, 'server/discover'))
  t.match(message.result, { supportedVersions: ['2026-07-28'], ttlMs: 3_600_000, cacheScope: 'private' })
  t.same(message.result.capabilities, { tools: { listChanged: false } })
  const { message: listed } = await post(customer, request(present, 'tools/list'))
  t.match(listed.result, { ttlMs: 3_600_000, cacheScope: 'private' }, 'they depend on the scope of the key')
})

t.test('batches are refused', async t => {
  const head = await service.core.log.head()
  const run = (revision: Revision) => request(revision, 'tools/call', { name: 'run_model', arguments: picture }).message
  for (const revision of revisions)
    for (const batch of [[run(revision)], [run(revision), run(revision)], []]) {
      const { status, message } = await post(customer, { ...balance(revision), message: batch })
      t.equal(status, 400)
      t.match(message, { jsonrpc: '2.0', id: null, error: { code: -32600 } })
    }
  t.equal(await service.core.log.head(), head)
})

t.test('notifications are accepted without an answer', async t => {
  const head = await service.core.log.head()
  for (const revision of revisions)
    for (const method of ['notifications/initialized', 'notifications/cancelled', 'tools/call']) {
      const { headers, message } = request(revision, method, { name: 'run_model', arguments: picture, requestId: 1 })
      const { id, ...notification } = message
      const { status, text } = await post(customer, { headers, message: notification })
      t.equal(status, 202, `${revision} ${method}`)
      t.equal(text, '')
    }
  t.equal(await service.core.log.head(), head)
})

t.test('an unknown method is an error', async t => {
  for (const [revision, status] of [
    [old, 200],
    [present, 404],
  ] as const)
    for (const method of ['nope', 'resources/list', 'prompts/list', 'tools/call/run_model', '__proto__']) {
      const reply = await post(customer, request(revision, method))
      t.equal(reply.status, status, method)
      t.match(reply.message, { jsonrpc: '2.0', id: 1, error: { code: -32601 } }, method)
    }
})

t.test('an unsupported revision is refused', async t => {
  const unknown = await post(customer, withHeaders(balance(old), { 'MCP-Protocol-Version': '1999-01-01' }))
  t.equal(unknown.status, 400)
  t.equal(unknown.message.error.code, -32000)
  const { headers, message } = balance()
  const later = JSON.parse(JSON.stringify(message).replaceAll('"2026-07-28"', '"2099-01-01"'))
  const refused = await post(customer, {
    headers: { ...headers, 'MCP-Protocol-Version': '2099-01-01' },
    message: later,
  })
  t.equal(refused.status, 400)
  t.match(refused.message, { id: 1, error: { code: -32022, data: { supported: ['2026-07-28'] } } })
})

t.test('headers that contradict the message are refused', async t => {
  for (const others of [
    { 'MCP-Protocol-Version': undefined },
    { 'MCP-Protocol-Version': old },
    { 'Mcp-Method': undefined },
    { 'Mcp-Method': 'tools/list' },
    { 'Mcp-Name': undefined },
    { 'Mcp-Name': 'list_runs' },
  ]) {
    const { status, message } = await post(customer, withHeaders(balance(), others))
    t.equal(status, 400)
    t.match(message, { id: 1, error: { code: -32020 } })
  }
})

t.test('an invalid message is refused', async t => {
  for (const message of [{}, { hello: 1 }, { jsonrpc: '1.0', id: 1, method: 'tools/list' }, { id: 1 }]) {
    const reply = await post(customer, { ...balance(old), message })
    t.equal(reply.status, 400)
    t.match(reply.message, { jsonrpc: '2.0', error: { code: -32600 } })
  }
  for (const name of [5, null, {}, undefined]) {
    const { headers, message } = request(old, 'tools/call')
    const { message: answered } = await post(customer, { headers, message: { ...message, params: { name } } })
    t.equal(answered.error.code, -32602)
  }
  for (const args of [5, [], 'x']) {
    const { headers, message } = request(old, 'tools/call')
    const params = { name: 'get_balance', arguments: args }
    const { message: answered } = await post(customer, { headers, message: { ...message, params } })
    t.equal(answered.error.code, -32602)
  }
})

t.test('an unreadable body is refused', async t => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const bodies: [body: string, type: string, code: string | number, path?: string][] = [
    ['{"jsonrpc":', 'application/json', -32700],
    ['', 'application/json', -32700],
    ['5', 'application/json', -32600],
    [JSON.stringify(balance().message), 'text/plain', 'unsupported_media_type'],
    [JSON.stringify(balance().message), 'application/x-www-form-urlencoded', 'unsupported_media_type'],
    [JSON.stringify(balance().message).padEnd(MAX_MCP_BYTES + 1), 'application/json', 'payload_too_large'],
    [`{"a":${nested(MAX_JSON_DEPTH)}}`, 'application/json', -32600, `/a${'/0'.repeat(MAX_JSON_DEPTH - 1)}`],
    [`{"a":${nested(100_000)}}`, 'application/json', -32600],
    [`{"a":"\\ud800"}`, 'application/json', -32600, '/a'],
  ]
  for (const revision of revisions)
    for (const [message, type, code, path] of bodies) {
      const { headers } = balance(revision)
      const { text } = await post(customer, { headers: { ...headers, 'Content-Type': type }, message })
      const { error } = JSON.parse(text)
      t.equal(error.code, code, `${revision} ${message.slice(0, 20)} ${type}`)
      if (path) t.equal(error.data.errors[0].path, path)
    }
})

t.test('arguments have the size limits of the API', async t => {
  const args = { ...picture, input: { prompt: 'x'.repeat(300_000) } }
  for (const revision of revisions) {
    const { message } = await post(customer, request(revision, 'tools/call', { name: 'run_model', arguments: args }))
    t.match(errorOf(message.result), { code: 'invalid_request', errors: [{ path: '/input' }] })
  }
})

t.test('a subscription to tool changes is acknowledged at once', async t => {
  const { status, text } = await post(
    customer,
    request(present, 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
  )
  t.equal(status, 200)
  t.match(text, 'notifications/subscriptions/acknowledged')
})

t.test('a client that disconnects during its message does no harm', async t => {
  const { port } = new URL(customer.url)
  const socket = connectSocket(Number(port), '127.0.0.1')
  socket.write(
    `POST /mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${customer.apiKey}\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"jsonrpc"`,
  )
  await new Promise(resolve => socket.write('', resolve))
  socket.destroy()
  t.match((await post(customer, balance())).message, { result: { structuredContent: { object: 'balance' } } })
})

t.test('a process without the api role serves no tools', async t => {
  const { url } = await startService(t, { environment: { ROLES: 'projector,reactors' } })
  // The OpenAPI document describes only processes with the api role, so fetch skips the check against it.
  const answer = await fetch(`${url}/mcp`, { method: 'POST' })
  t.equal(answer.status, 404)
  t.match(await answer.json(), { error: { code: 'not_found' } })
})
