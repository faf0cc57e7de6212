import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type Router from '@koa/router'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import t from 'tap'
import { type ErrorCode, errorStatus } from '../../schemas/api/error.ts'
import type { ModelList } from '../../schemas/api/model.ts'
import type { Quote } from '../../schemas/api/run.ts'
import { openService } from '../../src/boot/compose.ts'
import { byText } from '../../src/http/openapi/components.ts'
import { describeApi } from '../../src/http/openapi/document.ts'
import { namedShapes } from '../../src/http/openapi/named-shapes.ts'
import { routes } from '../../src/http/routes.ts'
import { documentAjv, escapePointer } from '../support/document.ts'
import { type Document, type Operation, objectsIn } from '../support/document-parts.ts'
import { openAccount, startService } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const service = await startService(t)
const customer = await openAccount(service)
const { body: document, text } = await customer.send<Document>('/v1/openapi.json')
const ajv = documentAjv(document)
const { body: models } = await customer.send<ModelList>('/v1/models')

const validators = new Map<string, ValidateFunction>()

const compile = (pointer: string): ValidateFunction => {
  const validate = validators.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` })
  validators.set(pointer, validate)
  return validate
}

const faultsOf = (pointer: string, value: unknown) => {
  const validate = compile(pointer)
  return validate(value) ? [] : [{ pointer, value, errors: validate.errors }]
}

t.test('the document is OpenAPI 3.1 and has the API version and the server URL', async t => {
  t.match(document.openapi, /^3\.1\.\d$/)
  t.match(document.info, { title: 'Tollgate', version: '0.2.0' })
  const [packageJson, changelog] = await Promise.all(
    ['package.json', 'CHANGELOG.md'].map(file => readFile(file, 'utf8')),
  )
  t.equal(JSON.parse(packageJson ?? '').version, document.info.version, 'package.json has the same version')
  t.equal(/^## ([\d.]+)/m.exec(changelog ?? '')?.[1], document.info.version, 'the changelog begins with it')
  t.same(document.servers, [{ url: service.url }])
  t.same(Object.keys(document.webhooks), [
    ...['run.completed', 'run.failed'],
    ...[
      'balance.low',
      'budget.warning',
      'budget.exhausted',
      'key.expiring',
      'credits.expiring',
      'top_up.stopped',
      'model.retiring',
      'withdrawal.received',
      'webhook.test',
    ],
  ])
})

t.test('the same service always produces the same text', async t => {
  const { body: again } = await customer.send('/v1/openapi.json', { headers: { 'Accept-Encoding': 'identity' } })
  t.equal(JSON.stringify(again), text)
  const offered = { title: 'Tollgate', baseUrl: service.url, families: models.data }
  t.equal(JSON.stringify(describeApi(routes, offered)), text)
})

t.test('routes and described operations match', async t => {
  const wired = await openService(service.core, () => service.url)
  t.teardown(async () => {
    await wired.stop()
    await wired.close()
  })
  const { router } = wired.app.middleware.find(each => 'router' in each) as unknown as { router: Router }
  const routed = router.stack.flatMap(({ path, methods }) => methods.map(method => `${method} ${path}`))
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map(method => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  )
  t.same(
    described.filter(each => !routed.includes(each)),
    [],
  )
  const writes = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
  const others = [...new Set(routed)].filter(
    each => !described.includes(each) && writes.includes(each.split(' ')[0] ?? ''),
  )
  for (const each of others) {
    const [method = '', path = ''] = each.split(' ')
    t.equal((await customer.send(path, { method })).status, 405, `${each} is routed only to return 405`)
  }
})

t.test('request examples are accepted', async t => {
  const content = document.paths['/v1/run']?.['post']?.requestBody?.content['application/json']
  const examples = Object.values(content?.examples ?? {})
  t.ok(examples.length >= 3)
  for (const { value } of examples) {
    const { status, body } = await customer.post<Quote>('/v1/run?dry_run=true', value)
    t.equal(status, 200)
    t.equal(body.object, 'quote')
  }
})

t.test('the document lists the offered models with their parameters', async t => {
  const { ModelId, ...schemas } = document.components.schemas
  t.equal(models.data.length, 32)
  t.same(ModelId?.enum, [
    ...models.data.flatMap(({ id, aliases }) => [id, ...aliases]),
    ...models.data.flatMap(({ endpoints }) => endpoints.map(({ id }) => id)),
  ])
  for (const { id, parameters_schema, description } of models.data.flatMap(family => family.endpoints))
    t.same(schemas[`${id}.parameters`], { description, ...parameters_schema })
})

t.test('the document describes the webhook retry schedule', async t => {
  const { 'webhook.test': _, ...retried } = document.webhooks
  for (const { post } of Object.values(retried))
    t.match(post?.description, /within 15 seconds, .* 10 attempts, over about 3 days/)
})

t.test('authenticated writes return Tollgate-Position unless they stream', async t => {
  const documented = Object.values(document.paths)
    .flatMap(Object.values<Operation>)
    .filter(({ responses }) =>
      Object.values(responses).some(({ headers }) => headers && 'Tollgate-Position' in headers),
    )
  t.same(
    new Set(documented.map(({ operationId }) => operationId)),
    new Set([
      ...[
        'setTopUp',
        'removeTopUp',
        'runModel',
        'cancelRun',
        'createChatCompletion',
        'createResponse',
        'generateImages',
        'editImages',
        'createSpeech',
        'openPurchase',
        'withdrawPurchase',
        'createKey',
        'revokeKey',
        'setBudget',
        'removeBudget',
        'setNotices',
      ],
      ...['sendUpload', 'presignUpload', 'deleteUpload'],
      ...['rotateWebhookSecret', 'testWebhook', 'resendWebhook'],
    ]),
  )
})

t.test('error codes are a closed list, each with its status', async t => {
  const { ErrorCode } = document.components.schemas
  t.same(ErrorCode?.enum, Object.keys(errorStatus))
  const documented = new Set<string>()
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, { responses }] of Object.entries(item))
      for (const [status, { $ref = '' }] of Object.entries(responses)) {
        const refusal = document.components.responses[$ref.split('/').at(-1) as string]
        for (const code of Object.keys(refusal?.content['application/json']?.examples ?? {})) {
          t.equal(String(errorStatus[code as ErrorCode]), status, `${method} ${path}: ${code}`)
          documented.add(code)
        }
      }
  const never = Object.keys(errorStatus).filter(code => !documented.has(code))
  t.same(never, ['method_not_allowed'])
})

// The tests below send no requests: they block the process for longer than idle connections live.

t.test('redocly reports no problems', async t => {
  const file = join(await temporaryFolder(t), 'openapi.json')
  // Linters refuse examples on localhost.
  await writeFile(file, text.replaceAll(service.url, 'https://tollgate.test'))
  const command = ['lint', file, '--config', 'test/support/redocly.yaml', '--format', 'json']
  const env = { PATH: process.env['PATH'] ?? '', REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const { stdout } = await promisify(execFile)('node_modules/.bin/redocly', command, { env }).catch(
    (failed: { stdout: string }) => failed,
  )
  const { problems } = JSON.parse(stdout) as { problems: { ruleId: string; message: string; location: object }[] }
  t.same(problems, [])
})

t.test('the document is valid OpenAPI', async t => {
  const validator = new Validator()
  t.same(await validator.validate(JSON.parse(text)), { valid: true })
  t.equal(validator.version, '3.1')
})

t.test('every schema compiles in strict mode', async t => {
  const pointers = Object.keys(document.components.schemas).map(name => `#/components/schemas/${escapePointer(name)}`)
  for (const { pointer, object } of objectsIn(document))
    if (typeof object['schema'] === 'object' && !pointer.endsWith('/properties')) pointers.push(`${pointer}/schema`)
  t.ok(pointers.length > 150)
  for (const pointer of pointers) t.doesNotThrow(() => compile(pointer), pointer)
})

t.test('every named schema is used and unique', async t => {
  const families = models.data.flatMap(({ endpoints }) => endpoints.map(({ id }) => `${id}.parameters`))
  t.same(new Set(Object.keys(document.components.schemas)), new Set([...Object.keys(namedShapes), ...families]))
  const { RunStatus, Kind } = namedShapes
  t.doesNotThrow(() => byText({ RunStatus, Kind }))
  t.throws(() => byText({ RunStatus, Kind, Other: { ...RunStatus, description: 'Anything.' } }), /Other .* RunStatus/)
})

t.test('named schemas are more specific than a bare type', async t => {
  const bare = Object.entries(document.components.schemas).filter(
    ([, schema]) => !Object.keys(schema).some(key => !['type', 'description', 'examples'].includes(key)),
  )
  t.same(bare, [])
})

t.test('examples match their schemas', async t => {
  let count = 0
  for (const { pointer, object } of objectsIn(document)) {
    const { examples, schema } = object as { examples?: unknown; schema?: object }
    const isSchema = Array.isArray(examples)
    const values = isSchema ? examples : schema ? Object.values(examples ?? {}).map(({ value }) => value) : []
    count += values.length
    for (const value of values) t.same(faultsOf(isSchema ? pointer : `${pointer}/schema`, value), [])
  }
  t.ok(count > 150)
})

// Spectral checks this too, but only in the long form.
t.test('every list says what it holds', async t => {
  const lists = [...objectsIn(document)].filter(({ object }) => [object['type']].flat().includes('array'))
  t.ok(lists.length > 50)
  for (const { pointer, object } of lists) t.ok('items' in object || 'prefixItems' in object, pointer)
})

t.test('URLs have the format of URLs', async t => {
  let count = 0
  // A part of a message has an object of this name.
  for (const { pointer, object } of objectsIn(document))
    if (/\/properties\/(\w+_)?(url|websiteUrl)$/.test(pointer) && object['type'] !== 'object') {
      t.equal(object['format'], 'uri', pointer)
      count++
    }
  t.ok(count > 20)
})

t.test('every operation has a description and a client error', async t => {
  for (const [path, item] of Object.entries(document.paths))
    for (const [method, { description, responses }] of Object.entries(item)) {
      t.ok(description, `${method} ${path}`)
      t.ok(
        Object.keys(responses).some(status => status.startsWith('4')),
        `${method} ${path}`,
      )
    }
})

t.test('every JSON body of requests, answers and webhooks has an example', async t => {
  const all = [document.paths, document.webhooks].flatMap(items =>
    Object.values(items).flatMap(Object.values<Operation>),
  )
  const contents = all.flatMap(({ tags, requestBody, responses }) =>
    tags.includes('Agents') ? [] : [requestBody?.content, ...Object.values(responses).map(({ content }) => content)],
  )
  const refused = Object.values(document.components.responses).map(({ content }) => content)
  const bodies = [...contents, ...refused].flatMap(content => content?.['application/json'] ?? [])
  t.ok(bodies.length > 20)
  for (const { schema, examples } of bodies) t.ok(examples, JSON.stringify(schema))
})

t.test('request schemas are specific to the chosen model and endpoint', async t => {
  const request = '#/components/schemas/RunRequest'
  const asks = (model: string, input: object) => faultsOf(request, { model, input }).length === 0
  t.ok(asks('nano-banana-2', { prompt: 'a lake' }))
  t.ok(asks('nano-banana-2', { prompt: 'winter', image_url: 'https://example.com/lake.jpg' }))
  t.notOk(asks('nano-banana-2', { prompt: 'a lake', resolution: '8K' }))
  t.notOk(asks('nano-banana-2', { prompt: 'a lake', duration: 4 }))
  t.ok(asks('veo-3-1', { prompt: 'a lake', duration: 4 }))
  t.notOk(asks('veo-3-1', {}))
  t.notOk(asks('nano-banana-3', { prompt: 'a lake' }))
  const image_url = 'https://example.com/lake.jpg'
  t.ok(asks('nano', { prompt: 'winter', image_url }))
  t.ok(asks('nano-banana-2-t2i', { prompt: 'a lake' }))
  t.ok(asks('nano-banana-2-i2i', { prompt: 'winter', image_url }))
  t.notOk(asks('nano-banana-2-t2i', { prompt: 'winter', image_url }))
  t.notOk(asks('nano-banana-2-i2i', { prompt: 'a lake' }))
})
