import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openService } from '../../src/boot/compose.ts'
import { type Customer, openAccount, openFolder, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { post, type Revision, request, revisions } from './support.ts'

const ALLOWED = 'https://app.example.com'
const service = await startService(t, { environment: { ALLOWED_ORIGINS: `${ALLOWED},http://localhost:6274` } })
const customer = await openAccount(service)
const { origin: own } = new URL(service.url)

const ask = (origin: string, revision: Revision, from: Pick<Customer, 'url' | 'apiKey'> = customer) => {
  const { headers, message } = request(revision, 'tools/call', { name: 'get_balance', arguments: {} })
  return post(from, { headers: { ...headers, Origin: origin }, message })
}

const preflight = (origin: string, headers = 'authorization,content-type,mcp-protocol-version,mcp-method,mcp-name') =>
  fetch(`${customer.url}/mcp`, {
    method: 'OPTIONS',
    headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': headers },
  })

t.test('pages of the service and of allowed sites can send requests and read the answers', async t => {
  for (const origin of [own, ALLOWED, 'http://localhost:6274'])
    for (const revision of revisions) {
      const { status, headers, message } = await ask(origin, revision)
      t.equal(status, 200)
      t.match(message.result, { structuredContent: { credits_balance: 100 } })
      t.equal(headers.get('Access-Control-Allow-Origin'), origin)
      t.match(headers.get('Vary'), /\bOrigin\b/)
      t.equal(headers.get('Access-Control-Allow-Credentials'), null)
    }
})

t.test('pages of the service can use any local host name', async t => {
  const { port } = new URL(own)
  for (const name of ['localhost', '127.0.0.1', '[::1]'])
    t.equal((await ask(`http://${name}:${port}`, revisions[0])).status, 200, name)
})

t.test('preflight requests of these pages are allowed', async t => {
  const answer = await preflight(ALLOWED)
  t.equal(answer.status, 204)
  t.equal(answer.headers.get('Access-Control-Allow-Origin'), ALLOWED)
  t.equal(answer.headers.get('Access-Control-Allow-Methods'), 'POST')
  const allowed = answer.headers.get('Access-Control-Allow-Headers')?.toLowerCase().split(', ')
  for (const name of ['authorization', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'])
    t.ok(allowed?.includes(name), name)
})

t.test('these pages can also read errors', async t => {
  const answer = await ask(ALLOWED, revisions[0], { url: customer.url, apiKey: 'none' })
  t.equal(answer.status, 401)
  t.equal(answer.headers.get('Access-Control-Allow-Origin'), ALLOWED)
  const stream = await fetch(`${customer.url}/mcp`, { headers: { Origin: ALLOWED } })
  t.equal(stream.status, 405)
  t.equal(stream.headers.get('Access-Control-Allow-Origin'), ALLOWED)
})

t.test('other pages are refused before any other check, with or without a key', async t => {
  const { host, hostname, port } = new URL(own)
  for (const origin of [
    'https://evil.example.com',
    'http://app.example.com',
    'https://app.example.com:8443',
    'https://app.example.com.evil.example.com',
    `https://${host}`,
    `http://${hostname}`,
    `http://evil.example.com:${port}`,
    'null',
    'file://',
    `${ALLOWED}/`,
    ALLOWED.toUpperCase(),
  ])
    for (const apiKey of [customer.apiKey, 'none']) {
      const { status, headers, message } = await ask(origin, revisions[1], { url: customer.url, apiKey })
      t.equal(status, 403, origin)
      t.match(message, { jsonrpc: '2.0', id: null, error: { code: -32000, message: /ALLOWED_ORIGINS/ } })
      t.equal(headers.get('Access-Control-Allow-Origin'), null)
      const before = await preflight(origin)
      t.equal(before.status, 403)
      t.equal(before.headers.get('Access-Control-Allow-Methods'), null)
    }
})

t.test('own pages are those with the origin of the public URL', async t => {
  const core = await openFolder(await temporaryFolder(t))
  const opened = await openService(core, () => 'https://LOCALHOST.example.com:443')
  const server = createServer(opened.app.callback()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    server.closeAllConnections()
    await opened.stop()
    await opened.close()
    await core.close()
  })
  const customer = await openAccount({ core, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  t.equal((await ask('https://localhost.example.com', revisions[1], customer)).status, 200)
  for (const other of ['http://localhost.example.com', 'https://127.0.0.1.example.com', customer.url])
    t.equal((await ask(other, revisions[1], customer)).status, 403, other)
})
