import t from 'tap'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { post, request, revisions, type Sent } from './support.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const customer = await openAccount(service)

const [old] = revisions
const initialize = { protocolVersion: old, capabilities: {}, clientInfo: { name: 'a', version: '1' } }

/** Malformed parameters, the place that the error names, and what is wrong with it. */
const malformed: Record<string, [string, unknown, string, string]> = {
  'no parameters': ['initialize', undefined, '', 'expected object, received undefined'],
  'no revision': ['initialize', {}, '/protocolVersion', 'expected string, received undefined'],
  'a client without a name': [
    'initialize',
    { ...initialize, clientInfo: { version: '1' } },
    '/clientInfo/name',
    'expected string, received undefined',
  ],
  'capabilities that are none': [
    'initialize',
    { ...initialize, capabilities: 1 },
    '/capabilities',
    'expected object, received number',
  ],
  'a cursor that is no text': ['tools/list', { cursor: 1 }, '/cursor', 'expected string, received number'],
}

for (const [name, [method, params, path, fault]] of Object.entries(malformed))
  for (const accept of ['application/json, text/event-stream', 'application/json'])
    t.test(`${method} with ${name}, accepting ${accept}`, async t => {
      const { headers, message } = request(old, method)
      const sent = { headers: { ...headers, Accept: accept }, message: { ...message, params } }
      const { status, message: reply } = await post(customer, sent)
      t.equal(status, 200)
      t.match(reply, { jsonrpc: '2.0', id: 1, error: { code: -32602, data: { errors: [{ path, message: fault }] } } })
      t.match(reply.error.message, `Invalid params: ${path}`)
      t.ok(reply.error.message.endsWith(`${fault}.`))
    })

t.test('well-formed parameters are answered', async t => {
  for (const [method, params] of Object.entries({ initialize, 'tools/list': {} }))
    t.ok((await post(customer, request(old, method, params))).message.result, method)
})

const VALUES = [undefined, null, 1, 'x', true, [], {}, [1], { a: 1 }]
const METHODS = [
  'initialize',
  'server/discover',
  'tools/list',
  'tools/call',
  'ping',
  'logging/setLevel',
  'resources/list',
]
const FIELDS: Record<string, object> = {
  initialize,
  'tools/call': { name: 'get_balance', arguments: {}, _meta: {} },
  'tools/list': { cursor: '', _meta: {} },
}

/** Requests whose parameters are of every type, all of them or one at a time. */
const anyRequests = function* (): Generator<Sent> {
  for (const revision of revisions)
    for (const method of METHODS)
      for (const value of VALUES) {
        const { headers, message } = request(revision, method)
        const fields = FIELDS[method] ?? {}
        const { _meta } = message['params'] as { _meta?: unknown }
        yield { headers, message: { ...message, params: value } }
        for (const field of Object.keys(fields))
          yield { headers, message: { ...message, params: { ...fields, _meta, [field]: value } } }
      }
}

t.test('no parameters make an internal error', async t => {
  for (const sent of anyRequests()) {
    const { status, message } = await post(customer, sent)
    const isInternal = status >= 500 || message?.error?.code === -32603
    if (isInternal) t.fail(JSON.stringify({ sent: sent.message, message }))
  }
  t.pass()
})
