import t from 'tap'
import type { ErrorCode } from '../../schemas/api/error.ts'
import type { Run } from '../../schemas/api/run.ts'
import { MAX_INPUT_BYTES, MAX_METADATA_BYTES, MAX_PRESIGNED_BYTES } from '../../schemas/primitives.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import type { Logger } from '../../src/ports/logger.ts'
import { Catalog } from '../../src/services/catalog/catalog.ts'
import { caughtUp } from '../support/caught-up.ts'
import { picture, type Reply } from '../support/client.ts'
import { type Customer, instantProvider, openAccount, startService } from '../support/service.ts'
import { call, connect, refusal, revisions } from './support.ts'

const logged: object[] = []
const quiet = () => undefined
const logger: Logger = {
  isLevelEnabled: () => false,
  ...{ debug: quiet, info: quiet, fatal: quiet },
  warn: facts => logged.push(facts),
  error: facts => logged.push(facts),
}

const service = await startService(t, { providers: { sandbox: instantProvider }, logger })
const owner = await openAccount(service)
const { body: owned } = await owner.run(picture)

const absent = 'run_01h455vb4pex5vsknk084sn02q'
const fat = (bytes: number) => ({ prompt: 'x'.repeat(bytes) })
const presign = (customer: Customer, request: object): Promise<Reply> => customer.post('/v1/uploads/presigned', request)

/** A call that is refused, and the request of the API that is refused in the same words. */
const refused: Record<string, [ErrorCode, string, object, (customer: Customer) => Promise<Reply>]> = {
  'a model that is not there': same('model_not_found', { ...picture, model: 'nope' }),
  'an input without what it needs': same('invalid_input', { ...picture, input: {} }),
  'an input with what nobody knows': same('invalid_input', { ...picture, input: { ...picture.input, colour: 'red' } }),
  'an input that is too large': same('invalid_request', { ...picture, input: fat(MAX_INPUT_BYTES) }),
  'metadata that is too large': same('invalid_request', { ...picture, metadata: fat(MAX_METADATA_BYTES) }),
  'a webhook that is a file': same('invalid_request', { ...picture, webhook_url: 'file:///etc/passwd' }),
  'more than the account has': same('insufficient_credits', {
    ...picture,
    input: { ...picture.input, num_images: 4, resolution: '4K' },
  }),
  'a quote for a model that is not there': [
    'model_not_found',
    'quote_run',
    { ...picture, model: 'nope' },
    customer => customer.post('/v1/run?dry_run=true', { ...picture, model: 'nope' }),
  ],
  ...Object.fromEntries(
    Object.entries({ absent, 'somebody else’s': owned.run_id, 'no run’s id': 'nope' }).flatMap(([what, run_id]) => [
      [
        `a run that is ${what}`,
        ['run_not_found', 'get_run', { run_id }, (customer: Customer) => customer.send(`/v1/runs/${run_id}`)],
      ],
      [
        `to give up a run that is ${what}`,
        [
          'run_not_found',
          'cancel_run',
          { run_id },
          (customer: Customer) => customer.send(`/v1/runs/${run_id}/cancel`, { method: 'POST' }),
        ],
      ],
    ]),
  ),
  'a file of no type': [
    'unsupported_media_type',
    'create_upload',
    { filename: 'a.png', mime_type: 'application/octet-stream' },
    customer => presign(customer, { filename: 'a.png', mime_type: 'application/octet-stream' }),
  ],
  'a file that is too large': [
    'payload_too_large',
    'create_upload',
    { filename: 'a.png', mime_type: 'image/png', size_bytes: MAX_PRESIGNED_BYTES + 1 },
    customer => presign(customer, { filename: 'a.png', mime_type: 'image/png', size_bytes: MAX_PRESIGNED_BYTES + 1 }),
  ],
}

function same(code: ErrorCode, request: object): [ErrorCode, string, object, (customer: Customer) => Promise<Reply>] {
  return [code, 'run_model', request, customer => customer.run(request)]
}

/** Calls that are refused for their shape, with the places of the faults. */
const misshapen: Record<string, [string, object, string[]]> = {
  'no arguments': ['run_model', {}, ['/model', '/input']],
  'an argument that nobody knows': ['run_model', { ...picture, idempotencyKey: 'a' }, ['/idempotencyKey']],
  'an input that is text': ['run_model', { ...picture, input: JSON.stringify(picture.input) }, ['/input']],
  'a key with a space': ['run_model', { ...picture, idempotency_key: 'a b' }, ['/idempotency_key']],
  'a key that is too long': ['run_model', { ...picture, idempotency_key: 'a'.repeat(256) }, ['/idempotency_key']],
  'a limit as text': ['list_runs', { limit: '5' }, ['/limit']],
  'a limit that is too large': ['list_runs', { limit: 101 }, ['/limit']],
  'a cursor that is none': ['list_runs', { cursor: 'nope' }, ['/cursor']],
  'a status that is none': ['list_runs', { status: 'done' }, ['/status']],
  'a kind that is none': ['list_models', { kind: 'a2v' }, ['/kind']],
  'an argument where there are none': ['get_balance', { currency: 'EUR' }, ['/currency']],
  'no run': ['get_run', {}, ['/run_id']],
  'a file that leads elsewhere': ['create_upload', { filename: '../a.png', mime_type: 'image/png' }, ['/filename']],
}

for (const revision of revisions) {
  t.test(`${revision}: refusals are those of the API`, async t => {
    const customer = await openAccount(service, { credits: 19.5 })
    const client = await connect(t, customer, revision)
    for (const [name, [code, tool, args, ask]] of Object.entries(refused)) {
      const { request_id, ...error } = await refusal(client, tool, args)
      const { request_id: _, ...ofApi } = (await ask(customer)).body.error
      t.equal(error.code, code, name)
      t.same(error, ofApi, name)
      t.match(request_id, /^[0-9a-f-]{36}$/)
    }
    t.equal(await customer.balance(), 19.5)
    t.equal(
      (await call<Run>(await connect(t, owner, revision), 'get_run', { run_id: owned.run_id })).body.status,
      'completed',
    )
  })

  t.test(`${revision}: arguments are checked as bodies are`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const head = await service.core.log.head()
    for (const [name, [tool, args, paths]] of Object.entries(misshapen)) {
      const { code, message, errors = [] } = await refusal(client, tool, args)
      t.equal(code, 'invalid_request', name)
      t.same([...new Set(errors.map(({ path }) => path))].sort(), paths.toSorted(), name)
      t.match(message, errors[0]?.message, name)
    }
    t.equal(await service.core.log.head(), head)
  })

  t.test(`${revision}: what breaks inside is told to the log alone`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    for (const [code, fault] of [
      ['internal_error', new Error('kaput at 10.0.0.7')],
      ['unavailable', new Unavailable('kaput at 10.0.0.7')],
    ] as const) {
      const asked = t.intercept(Catalog.prototype, 'list', { value: () => Promise.reject(fault) })
      logged.length = 0
      const { request_id, ...error } = await refusal(client, 'list_models')
      t.match(logged, [{ err: fault, requestId: request_id, tool: 'list_models' }])
      const { request_id: _, ...ofApi } = (await customer.send('/v1/models')).body.error
      t.same(error, ofApi)
      t.equal(error.code, code)
      t.equal(asked().length, 2)
    }
  })

  t.test(`${revision}: a tool that is not there is an error of the protocol`, async t => {
    const client = await connect(t, await openAccount(service), revision)
    for (const name of ['nope', '__proto__', 'constructor', ''])
      await t.rejects(client.callTool({ name, arguments: {} }), { code: -32602, message: /There is no tool/ }, name)
  })

  t.test(`${revision}: a key that is revoked while the client is connected is refused`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    await call(client, 'get_balance')
    const { accountId, keyId } = customer
    const { core } = service
    await core.accounts.execute(accountId, { type: 'RevokeApiKey', keyId }, { actor: { kind: 'operator' } })
    await caughtUp(core)
    const error = await client.callTool({ name: 'get_balance', arguments: {} }).catch(error => error)
    t.match(error, { name: 'SdkHttpError', status: 401 })
  })
}
