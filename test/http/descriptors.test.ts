import t from 'tap'
import { McpDescriptor } from '../../schemas/api/descriptors.ts'
import { describeMcp } from '../../src/http/descriptions/mcp-descriptor.ts'
import { templateOf } from '../../src/http/operation.ts'
import { routes } from '../../src/http/routes.ts'
import { tools } from '../../src/mcp/tools.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { withdraw } from '../support/catalog-samples.ts'
import type { Client } from '../support/client.ts'
import type { Document } from '../support/document-parts.ts'
import { openAccount, openKey, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { unwrap } from '../support/unwrap.ts'

const paths = ['/v1/openapi.json', '/llms.txt', '/.well-known/mcp']

// One of the links leads to the newest seal of the log.
const service = await startService(t, { environment: { SEAL_EVENTS: '1' } })
const stranger = service.client()
const customer = await openAccount(service)
const open = await startService(t, { environment: { PUBLIC_DESCRIPTORS: 'true' } })

const documentFor = async (client: Client) => (await client.send<Document>('/v1/openapi.json')).body

t.test('descriptors need a key', async t => {
  for (const path of paths) {
    const refused = await stranger.send(path)
    t.equal(refused.status, 401, path)
    t.equal(refused.body.error.code, 'invalid_api_key')
    const { status, headers } = await customer.send(path)
    t.equal(status, 200, path)
    t.equal(headers.get('Cache-Control'), 'private, max-age=300')
    t.match(headers.get('Vary'), 'Authorization')
    t.notOk(headers.has('Access-Control-Allow-Origin'))
  }
})

t.test('the operator can make the descriptors public, and nothing else', async t => {
  const reader = open.client()
  for (const path of paths) {
    const { status, headers } = await reader.send(path)
    t.equal(status, 200, path)
    t.equal(headers.get('Cache-Control'), 'public, max-age=300')
    t.equal(headers.get('Access-Control-Allow-Origin'), '*')
  }
  t.equal((await reader.send('/v1/models')).status, 401)
  t.match(
    (await reader.send<string>('/llms.txt')).body,
    '`GET /llms.txt`: Get a guide to the service for agents (no key)',
  )
})

t.test('the OpenAPI document says which descriptors are public', async t => {
  const openIn = ({ paths }: Document) =>
    Object.entries(paths).flatMap(([path, { get }]) => (get?.security?.length === 0 ? [path] : []))
  const [keyed, opened] = await Promise.all([documentFor(customer), documentFor(open.client())])
  t.same(
    openIn(opened).filter(path => !openIn(keyed).includes(path)),
    paths,
  )
  t.ok('401' in (keyed.paths['/llms.txt']?.['get']?.responses ?? {}))
  t.notOk('401' in (opened.paths['/llms.txt']?.['get']?.responses ?? {}))
})

t.test('clients that hold the current descriptor get 304', async t => {
  for (const path of paths) {
    const plain = await customer.sendRaw(path)
    const etag = plain.headers.get('ETag') ?? ''
    t.match(etag, /^"[\w-]{43}"$/, path)
    const again = await customer.sendRaw(path, { headers: { 'If-None-Match': etag } })
    t.same([again.status, again.text, again.headers.get('ETag')], [304, '', etag])
    t.match(again.headers.get('Cache-Control'), /max-age/)
    t.equal((await customer.sendRaw(path, { headers: { 'If-None-Match': '"other"' } })).status, 200)
    const head = await customer.sendRaw(path, { method: 'HEAD' })
    t.same([head.status, head.text, head.headers.get('ETag')], [200, '', etag])
    t.equal(head.headers.get('Content-Length'), String(Buffer.byteLength(plain.text)))
  }
})

t.test('a compressed descriptor has the same content and its own ETag', async t => {
  const headers = { 'Accept-Encoding': 'gzip' }
  for (const path of paths) {
    const plain = await customer.sendRaw(path)
    const zipped = await customer.send(path, { headers })
    t.equal(zipped.headers.get('Content-Encoding'), 'gzip', path)
    t.equal(plain.headers.get('Content-Encoding'), null)
    t.equal(zipped.text, plain.text)
    t.not(zipped.headers.get('ETag'), plain.headers.get('ETag'))
    t.match(zipped.headers.get('Vary'), 'Accept-Encoding')
    const { status } = await customer.sendRaw(path, {
      headers: { ...headers, 'If-None-Match': String(zipped.headers.get('ETag')) },
    })
    t.equal(status, 304)
  }
})

t.test('a withdrawn family disappears from all descriptors', async t => {
  const { core } = service
  const etagOf = async (path: string) => (await customer.send(path)).headers.get('ETag')
  const before = await Promise.all(paths.map(etagOf))
  t.same(await Promise.all(paths.map(etagOf)), before)
  unwrap(await core.publishedCatalog.apply({ kind: 'operator', name: 'test' }, [withdraw('veo-3-1')]))
  const models = (await documentFor(customer)).components.schemas['ModelId']?.enum
  t.ok(models?.includes('veo-3-1-fast'))
  t.notOk(models?.some(name => /^veo-3-1(-t2v|-i2v|-v2v)?$/.test(name)))
  t.notOk(models?.includes('veo-3-1'))
  t.notMatch((await customer.send('/llms.txt')).text, '`veo-3-1`')
  const [document, text, descriptor] = await Promise.all(paths.map(etagOf))
  t.not(document, before[0])
  t.not(text, before[1])
  t.equal(descriptor, before[2])
})

t.test('llms.txt follows its format', async t => {
  const { text, headers } = await customer.send('/llms.txt')
  t.equal(headers.get('Content-Type'), 'text/plain; charset=utf-8')
  const [preamble = '', ...sections] = text.split(/^## /m)
  t.match(preamble, /^# Tollgate\n\n> [^\n]+\n\n/)
  t.equal([...text.matchAll(/^# /gm)].length, 1, 'one title')
  t.notMatch(text, /^###/m, 'no other headings')
  for (const section of sections) t.match(section, /^[A-Z]\w+\n\n(- \[[^\]]+\]\([^)\s]+\)(: .+)?\n)+\n?$/)
  t.match(sections.at(-1), /^Optional\n/)
})

t.test('every link in llms.txt works', async t => {
  const links = linksIn((await customer.send('/llms.txt')).text)
  t.ok(links.length > 8)
  const manager = await openKey(service, customer, { scope: 'keys' })
  await until('the log is sealed', async () => (await customer.send('/v1/ledger/seal')).status === 200)
  for (const url of links) {
    t.ok(url.startsWith(`${service.url}/`), url)
    const client = url.endsWith('/v1/keys') ? manager : customer
    // Top-ups are off by default.
    const status = url.endsWith('/v1/top_up') ? 404 : 200
    t.equal((await client.send(url.slice(service.url.length))).status, status, url)
  }
})

t.test('every request in llms.txt is an operation of the API', async t => {
  const { text } = await customer.send('/llms.txt')
  const named = [...text.matchAll(/`(GET|POST|PUT|DELETE) (\/[^`?]*)`/g)].map(([, method, path]) => `${method} ${path}`)
  const known = routes.map(operation => `${operation.method.toUpperCase()} ${templateOf(operation)}`)
  t.same(
    [...new Set(named)].filter(request => !known.includes(request)),
    [],
  )
  const expected = routes.filter(({ tag, auth }) => tag !== 'Service' && auth !== 'auditor key').length
  t.ok(new Set(named).size >= expected)
})

t.test('llms.txt lists the prices of models and the tools', async t => {
  const { text } = await customer.send('/llms.txt')
  t.match(text, '- `nano-banana-2` (image): 10 to 81.5 credits\n')
  t.match(text, '- `eleven-v3` (audio): 10 credits\n')
  t.match(text, `MCP tools:\n${tools.map(({ name, title }) => `- \`${name}\`: ${title}\n`).join('')}\n`)
})

t.test('the MCP descriptor says where and how agents connect', async t => {
  const { body, headers } = await customer.send<McpDescriptor>('/.well-known/mcp')
  t.equal(headers.get('Content-Type'), 'application/json; charset=utf-8')
  t.same(compileCheck(McpDescriptor)(body), [])
  t.match(body, {
    name: 'localhost/tollgate',
    title: 'Tollgate',
    version: '0.2.0',
    transport: 'streamable-http',
    endpoint: `${service.url}/mcp`,
    authentication: { required: true, type: 'http', scheme: 'bearer' },
  })
  t.type(body.tools, Array)
})

t.test('the server card matches the MCP schema', async t => {
  const tools = [{ name: 'get_balance', title: 'Balance', description: 'Says what is left.' }]
  const card = describeMcp({
    ...{ title: 'Acme', baseUrl: 'https://api.example.com' },
    tools: tools.map(tool => ({ ...tool, input: {} })),
  })
  t.equal(card.$schema, 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json')
  t.equal(card.name, 'com.example.api/tollgate')
  t.match(card.description, /^.{1,100}$/)
  t.match(card.remotes, [
    {
      type: 'streamable-http',
      url: 'https://api.example.com/mcp',
      headers: [{ name: 'Authorization', isRequired: true, isSecret: true, value: 'Bearer {api_key}' }],
    },
  ])
  t.same(
    Object.keys(card.remotes[0]?.headers[0]?.variables ?? {}),
    ['api_key'],
    'a part of the value in braces is a variable',
  )
  t.same(card.tools, tools)
})

t.test('the server name is derived from the public URL', async t => {
  const names: [string, string][] = [
    ['http://localhost:8080', 'localhost/tollgate'],
    ['http://10.1.2.3:8080', '10.1.2.3/tollgate'],
    ['http://[2001:db8::1]:8080', '2001-db8--1/tollgate'],
    ['https://My_API.example.com', 'com.example.my-api/tollgate'],
    ['https://bücher.example', 'example.xn--bcher-kva/tollgate'],
  ]
  for (const [url, name] of names) {
    const card = describeMcp({ title: 'Acme', baseUrl: url, tools: [] })
    t.equal(card.name, name)
    t.same(compileCheck(McpDescriptor)(card), [], url)
  }
})

const linksIn = (text: string) => [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, url]) => url ?? '')
