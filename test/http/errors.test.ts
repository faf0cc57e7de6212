import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { ErrorBody, type ErrorCode, errorStatus } from '../../schemas/api/error.ts'
import {
  MAX_BODY_BYTES,
  MAX_INPUT_BYTES,
  MAX_JSON_DEPTH,
  MAX_LONG_BODY_BYTES,
  MAX_LONG_JSON_NAMES,
  MAX_LONG_JSON_VALUES,
  MAX_METADATA_BYTES,
} from '../../schemas/primitives.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import { compileCheck } from '../../src/services/schema-check.ts'
import { picture, type Reply, type Sending } from '../support/client.ts'
import { runCommand } from '../support/command-runner.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const customer = await openAccount(service, { credits: 19.5 })
const faultsOfError = compileCheck(ErrorBody)
const json = { 'Content-Type': 'application/json' }

/** Asserts that a request is refused with these fault paths, without an event or charge. */
const refuses = async (t: Test, code: ErrorCode, paths: string[] | undefined, ask: () => Promise<Reply>) => {
  const before = { head: await service.core.log.head(), balance: await customer.balance() }
  const { status, body } = await ask()
  t.equal(status, errorStatus[code])
  t.same(faultsOfError(body), [])
  t.equal(body.error.code, code)
  // A value of the wrong type can break two rules at one path.
  const places = body.error.errors?.map(fault => fault.path)
  t.same(places && [...new Set(places)], paths)
  t.same({ head: await service.core.log.head(), balance: await customer.balance() }, before)
}

const post = (body: string | Uint8Array, headers: Record<string, string> = json, path = '/v1/run') =>
  customer.send(path, { method: 'POST', headers, body })

/** A run request as text, with metadata that need not be valid JSON. */
const withMetadata = (metadata: string) => `{"model":"nano-banana-2","input":{"prompt":"x"},"metadata":${metadata}}`
const withInput = (input: object) => JSON.stringify({ ...picture, input })

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
/** The request and its metadata are two levels; the rest is inside. */
const ofDepth = (levels: number) => withMetadata(`{"a":${nested(levels - 2)}}`)
const ofSize = (bytes: number) => withMetadata('{}').padEnd(bytes, ' ')
/** An object with so many names. */
const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]))

/** An object whose JSON has `bytes` bytes. */
const padded = (name: string, bytes: number) => ({ [name]: 'x'.repeat(bytes - `{"${name}":""}`.length) })

const bodies: Record<string, [ErrorCode, string[] | undefined, () => Promise<Reply>]> = {
  'text that is not JSON': ['invalid_request', [''], () => post('{"model":')],
  'JSON with a trailing comma': ['invalid_request', [''], () => post('{"model":"nano",}')],
  'text in another encoding': ['invalid_request', [''], () => post(Buffer.from('{"model":"nano\xff"', 'latin1'))],
  'no body': ['invalid_request', [''], () => post('')],
  'an empty object': ['invalid_request', ['/model', '/input'], () => post('{}')],
  'an array': ['invalid_request', [''], () => post('[]')],
  'a bare string': ['invalid_request', [''], () => post('"nano"')],
  null: ['invalid_request', [''], () => post('null')],
  'no content type': ['unsupported_media_type', undefined, () => post(Buffer.from(withInput({})), {})],
  'another content type': [
    'unsupported_media_type',
    undefined,
    () => post('model=nano', { 'Content-Type': 'text/plain' }),
  ],
  'a form': [
    'unsupported_media_type',
    undefined,
    () => post('model=nano', { 'Content-Type': 'application/x-www-form-urlencoded' }),
  ],
  'garbage declared as gzip': [
    'invalid_request',
    [''],
    () => post(randomBytes(100), { ...json, 'Content-Encoding': 'gzip' }),
  ],
  'an unknown encoding': [
    'unsupported_media_type',
    undefined,
    () => post('{}', { ...json, 'Content-Encoding': 'zip' }),
  ],
  'one level too many': [
    'invalid_request',
    [`/metadata/a${'/0'.repeat(MAX_JSON_DEPTH - 2)}`],
    () => post(ofDepth(MAX_JSON_DEPTH + 1)),
  ],
  'far too many levels': ['invalid_request', [''], () => post(ofDepth(100_000))],
  'too many values': [
    'invalid_request',
    [''],
    () => post(withInput({ ...picture.input, x: Array(MAX_LONG_JSON_VALUES).fill(0) })),
  ],
  'too many names': ['invalid_request', [''], () => post(withInput(names(MAX_LONG_JSON_NAMES)))],
  'one byte too many': ['payload_too_large', undefined, () => post(ofSize(MAX_LONG_BODY_BYTES + 1))],
  'one byte too many after decompression': [
    'payload_too_large',
    undefined,
    () => post(gzipSync(ofSize(MAX_BODY_BYTES + 1)), { ...json, 'Content-Encoding': 'gzip' }),
  ],
  'an unknown field': ['invalid_request', ['/modle'], () => customer.run({ ...picture, modle: 'x' })],
  'fields of the wrong type': [
    'invalid_request',
    ['/model', '/input', '/webhook_url', '/metadata'],
    () => customer.run({ model: 7, input: 'x', webhook_url: {}, metadata: [] }),
  ],
  'an empty model name': ['invalid_request', ['/model'], () => customer.run({ ...picture, model: '' })],
  'a webhook that is not a URL': [
    'invalid_request',
    ['/webhook_url'],
    () => customer.run({ ...picture, webhook_url: 'x' }),
  ],
  'a webhook with a file URL': [
    'invalid_request',
    ['/webhook_url'],
    () => customer.run({ ...picture, webhook_url: 'file:///etc/passwd' }),
  ],
  'too many query parameters': [
    'invalid_request',
    undefined,
    () => post(withInput(picture.input), json, `/v1/run?${'dry_run=true&'.repeat(32)}`),
  ],
  'a query parameter given twice': [
    'invalid_request',
    ['/dry_run'],
    () => post(withInput(picture.input), json, '/v1/run?dry_run=true&dry_run=true'),
  ],
  'an unknown query parameter': [
    'invalid_request',
    ['/dryrun'],
    () => post(withInput(picture.input), json, '/v1/run?dryrun=true'),
  ],
  'a query parameter of the wrong type': [
    'invalid_request',
    ['/dry_run'],
    () => post(withInput(picture.input), json, '/v1/run?dry_run=1'),
  ],
  'an unpaired surrogate': ['invalid_request', ['/metadata/a/1'], () => post(withMetadata('{"a":["x","\\ud800"]}'))],
  'an unpaired surrogate in a name': [
    'invalid_request',
    ['/metadata/a'],
    () => post(withMetadata('{"a":{"\\udc00":1}}')),
  ],
  'a number too large for a double': ['invalid_request', ['/metadata/a'], () => post(withMetadata('{"a":1e400}'))],
  'a path with a name that needs escaping': [
    'invalid_request',
    ['/metadata/a~1b~0c'],
    () => post(withMetadata('{"a/b~c":1e400}')),
  ],
  'a __proto__ field': ['invalid_request', [''], () => post('{"__proto__":{"model":"nano"},"input":{}}')],
  'a nested __proto__ field': ['invalid_request', [''], () => post(withMetadata('{"a":{"__proto__":{"x":1}}}'))],
  'metadata one byte too large': [
    'invalid_request',
    ['/metadata'],
    () => customer.run({ ...picture, metadata: padded('a', MAX_METADATA_BYTES + 1) }),
  ],
  'an input one byte too large': [
    'invalid_request',
    ['/input'],
    () => customer.run({ ...picture, input: padded('prompt', MAX_INPUT_BYTES + 1) }),
  ],
  'an input without a required parameter': ['invalid_input', ['/input/prompt'], () => post(withInput({}))],
  'an input with an unknown parameter': [
    'invalid_input',
    ['/input/colour'],
    () => post(withInput({ ...picture.input, colour: 'red' })),
  ],
  'an input with every parameter invalid': [
    'invalid_input',
    ['prompt', 'num_images', 'resolution', 'aspect_ratio', 'enable_web_search', 'safety_tolerance', 'seed'].map(
      name => `/input/${name}`,
    ),
    () =>
      post(
        withInput({
          prompt: '',
          num_images: 5,
          resolution: '8K',
          aspect_ratio: '2:1',
          enable_web_search: 'true',
          safety_tolerance: 7,
          seed: -1,
        }),
      ),
  ],
  'an input for a kind that the model lacks': [
    'invalid_input',
    ['/input'],
    () => customer.run({ model: 'z-image-turbo', input: { prompt: 'a lake', image_url: 'https://example.com/a.png' } }),
  ],
  'an unknown model': ['model_not_found', undefined, () => customer.run({ ...picture, model: 'nano-banana-3' })],
  'a model named like an object property': [
    'model_not_found',
    undefined,
    () => customer.run({ ...picture, model: '__proto__' }),
  ],
  'insufficient credits': [
    'insufficient_credits',
    undefined,
    () => post(withInput({ ...picture.input, resolution: '4K' })),
  ],
}

for (const [name, [code, paths, ask]] of Object.entries(bodies))
  t.test(`${name}: ${code}`, t => refuses(t, code, paths, ask))

t.test('no message holds characters that control a terminal', async t => {
  const name = '\u001b[2J\u009b\u202e'
  const { body } = await customer.run({ ...picture, model: name })
  t.match(body.error.message, '\\u001b[2J\\u009b\\u202e')
  t.notMatch(body.error.message, /[\p{Cc}\u202e]/u)
})

t.test('an unreadable body is explained, and each fault is a phrase about its path', async t => {
  const explained: [string, RegExp, string][] = [
    ['{"model":', /^The body is not valid JSON: /, 'is not valid JSON'],
    ['"nano"', /^The body must be a JSON object\.$/, 'must be an object'],
    ['[]', /^Invalid body: \/ must be an object\.$/, 'must be an object'],
    [withMetadata('{"a":1e400}'), /^The number is too large\.$/, 'is too large'],
  ]
  for (const [sent, message, fault] of explained) {
    const { error } = (await post(sent)).body
    t.match(error.message, message)
    t.equal(error.errors?.[0]?.message, fault)
  }
})

t.test('a POST without a body is reported as a missing body', async t => {
  const { status, text } = await customer.sendRaw('/v1/run', { method: 'POST', headers: json })
  t.equal(status, 400)
  t.notMatch(JSON.parse(text).error.message, 'not application/json')
})

t.test('values at their limits are accepted', async t => {
  const quoted = '/v1/run?dry_run=true'
  const within = [
    ofDepth(MAX_JSON_DEPTH),
    ofSize(MAX_BODY_BYTES),
    JSON.stringify({ ...picture, metadata: padded('a', MAX_METADATA_BYTES) }),
    withMetadata('{"constructor":{"prototype":{}},"a/b":"\\ud83c\\udf0d","n":1e308}'),
  ]
  for (const body of within) t.equal((await post(body, json, quoted)).status, 200)
  const packed = { ...json, 'Content-Encoding': 'gzip' }
  t.equal((await post(gzipSync(withMetadata('{}')), packed, quoted)).status, 200)
  t.equal((await post(withMetadata('{}'), { 'Content-Type': 'application/json; charset=utf-8' }, quoted)).status, 200)
})

t.test('insufficient_credits states the balance and the price', async t => {
  const customer = await openAccount(service, { credits: 15 })
  const { body } = await customer.run({ ...picture, input: { ...picture.input, num_images: 2 } })
  t.match(body.error, { code: 'insufficient_credits', required_credits: 20, credits_balance: 15 })
})

t.test('insufficient_credits shows owners on their own machine the command that adds credits', async t => {
  const customer = await openAccount(service, { credits: 5 })
  const { body } = await customer.run(picture)
  const [, folder = '', command = ''] =
    /in the folder of Tollgate: DATA_DIR='([^']+)' npm run -s tollgate -- (.*)$/.exec(body.error.message) ?? []
  const args = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  t.match(args, ['credits', 'grant', customer.accountId])
  const { code, stderr } = await runCommand({ args, env: { DATA_DIR: folder } })
  t.same([code, stderr], [0, ''])
  await until('the credits are there', async () => (await customer.balance()) === 1005)
  for (const environment of [{ HOST: '0.0.0.0' }, { PUBLIC_URL: 'https://tollgate.example.com' }] as const) {
    const shared = await startService(t, { environment })
    const poor = await openAccount({ ...shared, url: `http://127.0.0.1:${shared.port}` }, { credits: 5 })
    t.match((await poor.run(picture)).body.error.message, /ask the operator/, JSON.stringify(environment))
  }
})

t.test('method_not_allowed lists the allowed methods', async t => {
  const wrong: [string, string, RegExp][] = [
    ['GET', '/v1/run', /^POST$/],
    ['POST', '/v1/runs', /GET/],
    ['DELETE', '/v1/runs/run_01h455vb4pex5vsknk084sn02q', /GET/],
    ['POST', '/v1/balance', /GET/],
    ['PUT', '/v1/models', /GET/],
    ['POST', '/healthz', /GET/],
    ['PROPFIND', '/v1/models', /GET/],
  ]
  for (const [method, path, allow] of wrong) {
    const sending: Sending = { method, headers: json }
    await refuses(t, 'method_not_allowed', undefined, () => customer.send(path, sending))
    t.match((await customer.send(path, sending)).headers.get('Allow'), allow)
  }
})

t.test('an unknown path returns 404 in any spelling', async t => {
  const client = service.client()
  for (const path of [
    '/v1',
    '/v1/',
    '/v2/run',
    '/V1/balance',
    '/v1/balance/',
    '//v1/balance',
    '/v1/run%73',
    '/%',
    '/%00',
  ]) {
    const { status, text } = await client.sendRaw(path)
    t.equal(status, 404, path)
    const { code, message } = JSON.parse(text).error
    t.equal(code, 'not_found')
    t.match(message, / GET \/docs shows all routes\.$/)
  }
})

t.test('internal errors are logged, and clients see none of their details', async t => {
  const { reads } = service.core
  const { get } = reads
  t.teardown(() => {
    reads.get = get
  })
  for (const breaks of [() => Promise.reject(new Error('secret /etc/path')), async () => void new URL('secret')]) {
    reads.get = breaks
    const broken = await customer.send('/v1/runs/run_01m7z4hp40enbs019v3tcadvdx')
    t.equal(broken.status, 500)
    t.equal(broken.body.error.code, 'internal_error')
    t.notMatch(broken.text, /secret|etc|at .*:\d+/)
  }
  reads.get = () => Promise.reject(new Unavailable('the disk /dev/x is full'))
  const unavailable = await customer.send('/v1/runs/run_01m7z4hp40enbs019v3tcadvdx')
  t.equal(unavailable.status, 503)
  t.equal(unavailable.headers.get('Retry-After'), '2')
  t.equal(unavailable.body.error.code, 'unavailable')
  t.notMatch(unavailable.text, /dev/)
})

t.test('a malformed request target is a bad request', async t => {
  for (const target of ['http://[::1/healthz', 'http://', 'http:///healthz', 'ftp://a/healthz', '/healthz#a']) {
    const { status, text } = await customer.sendRaw(target)
    t.equal(status, 400, target)
    t.equal(JSON.parse(text).error.code, 'invalid_request', target)
  }
  for (const path of ['/v1/runs/%zz', '/v1/models/%ff']) t.equal((await customer.send(path)).status, 404, path)
})

t.test('a request target may be an absolute URL', async t => {
  const statusOf = async (path: string) => {
    const [answer] = (await once(get(customer.url, { path }), 'response')) as [IncomingMessage]
    answer.resume()
    return answer.statusCode
  }
  for (const origin of ['http://a.example', 'HTTPS://[2001:db8::7]:8443', 'http://xn--'])
    t.equal(await statusOf(`${origin}/healthz?`), 200, origin)
})
