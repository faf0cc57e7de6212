import t from 'tap'
import { instantProvider, openAccount, openKey, startService } from '../support/service.ts'
import { post, type Reply, type Revision, request, revisions, type Sent } from './support.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const customer = await openAccount(service)
const reader = await openKey(service, customer, { scope: 'read' })

/** A message that is answered without the SDK, and with it: sessions mean nothing here, and the SDK ignores them. */
const bothWays = async ({ headers, message }: Sent, of = customer): Promise<[Reply, Reply]> => {
  const given = { ...headers, 'X-Request-Id': 'the-same' }
  const detour = { ...given, 'Mcp-Session-Id': 'none' }
  return [await post(of, { headers: given, message }), await post(of, { headers: detour, message })]
}

/** Koa knows the length of an answer in advance; the SDK streams every answer. */
const isDirect = ({ headers }: Reply) => headers.has('Content-Length')

const shown = ({ status, headers, message }: Reply) => {
  const names = ['Content-Type', 'Cache-Control', 'X-Accel-Buffering', 'X-Request-Id']
  return { status, headers: names.map(name => headers.get(name)), message }
}

const call = (revision: Revision, params: object, changes: object = {}): Sent => {
  const sent = request(revision, 'tools/call', { arguments: {}, ...params })
  return { ...sent, message: { ...sent.message, ...changes } }
}

const META = 'io.modelcontextprotocol/'
const capable = (capabilities: unknown, client: object = {}) => ({
  name: 'get_balance',
  _meta: {
    [`${META}clientCapabilities`]: capabilities,
    [`${META}clientInfo`]: { name: 'test', version: '1', ...client },
  },
})

/** The common calls, by what is special about each. */
const common = (revision: Revision): [string, Sent][] => [
  ['no arguments', call(revision, { name: 'get_balance', arguments: undefined })],
  ['empty arguments', call(revision, { name: 'get_balance' })],
  ['null arguments', call(revision, { name: 'get_balance', arguments: null })],
  ['arguments', call(revision, { name: 'list_models', arguments: { model: 'nano-banana-2' } })],
  ['wrong arguments', call(revision, { name: 'list_runs', arguments: { limit: 'many', other: 1 } })],
  ['an unknown run', call(revision, { name: 'get_run', arguments: { run_id: 'run_1' } })],
  ['a text as ID', call(revision, { name: 'get_balance' }, { id: 'a-1' })],
  ...(revision === '2026-07-28'
    ? ([
        ['capabilities', call(revision, capable({ elicitation: {}, roots: {} }))],
        ['a title', call(revision, capable({}, { title: 'Test' }))],
      ] as [string, Sent][])
    : []),
]

/** Other messages, among them malformed ones. */
const uncommon = (revision: Revision): [string, Sent][] => [
  ['a run', call(revision, { name: 'run_model', arguments: { model: 'none', input: {} } })],
  ['an unknown tool', call(revision, { name: 'no_tool' })],
  ['a name that is no text', call(revision, { name: 1 })],
  ['arguments that are no object', call(revision, { name: 'get_balance', arguments: [] })],
  ['arguments that are text', call(revision, { name: 'get_balance', arguments: 'x' })],
  ['further params', call(revision, { name: 'get_balance', task: {} })],
  ['a further member', call(revision, { name: 'get_balance' }, { more: true })],
  ['no id', call(revision, { name: 'get_balance' }, { id: undefined })],
  ['a null id', call(revision, { name: 'get_balance' }, { id: null })],
  ['a fraction as id', call(revision, { name: 'get_balance' }, { id: 1.5 })],
  ['another version of JSON-RPC', call(revision, { name: 'get_balance' }, { jsonrpc: '1.0' })],
  ['progress', call(revision, { name: 'get_balance', _meta: { progressToken: 7 } })],
  ['capabilities that are no object', call(revision, capable('all'))],
  ['capabilities with details', call(revision, capable({ roots: { listChanged: true } }))],
  ['a client without a version', call(revision, capable({}, { version: undefined }))],
  ['a client with details', call(revision, capable({}, { websiteUrl: 'https://example.com' }))],
  ['initialize', request(revision, 'initialize', { protocolVersion: revision, capabilities: {}, clientInfo: {} })],
  ['ping', request(revision, 'ping')],
  ['tools/list', request(revision, 'tools/list')],
  ['server/discover', request(revision, 'server/discover')],
  ['an unknown method', request(revision, 'no/method')],
]

const withHeaders = ({ headers, message }: Sent, changes: Record<string, string>): Sent => ({
  headers: { ...headers, ...changes },
  message,
})

/** Common calls with headers that make them uncommon. */
const otherwise = (revision: Revision): [string, Sent][] => {
  const plain = call(revision, { name: 'get_balance' })
  return [
    ['another revision', withHeaders(plain, { 'MCP-Protocol-Version': '2024-11-05' })],
    ['an unknown revision', withHeaders(plain, { 'MCP-Protocol-Version': '1999-01-01' })],
    ['another method', withHeaders(plain, { 'Mcp-Method': 'tools/list' })],
    ['another name', withHeaders(plain, { 'Mcp-Name': 'get_run' })],
    ['a parameter', withHeaders(plain, { 'Mcp-Param-Region': 'eu' })],
  ]
}

const JSON_ONLY = { Accept: 'application/json' }

for (const revision of revisions) {
  t.test(`common calls of ${revision} are answered as the SDK answers them`, async t => {
    for (const [name, sent] of common(revision))
      for (const each of [sent, withHeaders(sent, JSON_ONLY)]) {
        const [direct, detour] = await bothWays(each)
        t.ok(isDirect(direct), `${name} needs no SDK`)
        t.notOk(isDirect(detour), `${name} reaches the SDK by the detour`)
        t.same(shown(direct), shown(detour), name)
      }
    const [direct, detour] = await bothWays(call(revision, { name: 'get_balance' }), reader)
    t.same(shown(direct), shown(detour), 'a key that only reads')
  })

  t.test(`the SDK answers every other message of ${revision}`, async t => {
    for (const [name, sent] of [...uncommon(revision), ...otherwise(revision)])
      for (const each of [sent, withHeaders(sent, JSON_ONLY)]) {
        const [reply, detour] = await bothWays(each)
        t.notOk(reply.status === 200 && isDirect(reply), `${name} reaches the SDK`)
        t.same(shown(reply), shown(detour), name)
      }
  })
}

t.test('a call without the header of a revision is an old one', async t => {
  const { message } = call('2025-11-25', { name: 'get_balance' })
  const [direct, detour] = await bothWays({ headers: { 'Content-Type': 'application/json' }, message })
  t.ok(isDirect(direct))
  t.same(shown(direct), shown(detour))
})
