import t from 'tap'
import type { ErrorCode } from '../../schemas/api/error.ts'
import type { Run } from '../../schemas/api/run.ts'
import { MAX_INPUT_BYTES, MAX_METADATA_BYTES, MAX_PRESIGNED_BYTES } from '../../schemas/primitives.ts'
import { Unavailable } from '../../src/ports/faults.ts'
import type { Logger } from '../../src/ports/logger.ts'
import { Offers } from '../../src/services/catalog/offers.ts'
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
const padded = (bytes: number) => ({ prompt: 'x'.repeat(bytes) })
const presign = (customer: Customer, request: object): Promise<Reply> => customer.post('/v1/uploads/presigned', request)

/** A refused call, and the API request that is refused with the same error. */
const refused: Record<string, [ErrorCode, string, object, (customer: Customer) => Promise<Reply>]> = {
  'an unknown model': same('model_not_found', { ...picture, model: 'nope' }),
  'an input without a required parameter': same('invalid_input', { ...picture, input: {} }),
  'an input with an unknown parameter': same('invalid_input', {
    ...picture,
    input: { ...picture.input, colour: 'red' },
  }),
  'an input that is too large': same('invalid_request', { ...picture, input: padded(MAX_INPUT_BYTES) }),
  'metadata that is too large': same('invalid_request', { ...picture, metadata: padded(MAX_METADATA_BYTES) }),
  'a webhook with a file URL': same('invalid_request', { ...picture, webhook_url: 'file:///etc/passwd' }),
  'insufficient credits': same('insufficient_credits', {
    ...picture,
    input: { ...picture.input, num_images: 4, resolution: '4K' },
  }),
  'a quote for an unknown model': [
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
  'a cursor of no line': [
    'invalid_request',
    'get_statement',
    { cursor: '0' },
    customer => customer.send('/v1/ledger?cursor=0'),
  ],
  'days that are none': [
    'invalid_request',
    'get_usage',
    { from: '2026-11-02', to: '2026-11-02' },
    customer => customer.send('/v1/usage?from=2026-11-02&to=2026-11-02'),
  ],
  'a file without a valid type': [
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

/** Calls with malformed arguments, and the paths of the faults. */
const malformed: Record<string, [string, object, string[]]> = {
  'no arguments': ['run_model', {}, ['/model', '/input']],
  'an unknown argument': ['run_model', { ...picture, idempotencyKey: 'a' }, ['/idempotencyKey']],
  'an input that is no object': ['run_model', { ...picture, input: 'a lighthouse' }, ['/input']],
  'a key with a space': ['run_model', { ...picture, idempotency_key: 'a b' }, ['/idempotency_key']],
  'a key that is too long': ['run_model', { ...picture, idempotency_key: 'a'.repeat(256) }, ['/idempotency_key']],
  'a limit as text': ['list_runs', { limit: '5' }, ['/limit']],
  'a limit that is too large': ['list_runs', { limit: 101 }, ['/limit']],
  'an invalid cursor': ['list_runs', { cursor: 'nope' }, ['/cursor']],
  'an unknown status': ['list_runs', { status: 'done' }, ['/status']],
  'a day that does not exist': ['get_statement', { from: '2026-02-30' }, ['/from']],
  'a day that does not begin at midnight': ['get_usage', { to: '2026-11-30T12:00Z' }, ['/to']],
  'a group that does not exist': ['get_usage', { group_by: 'day,hour' }, ['/group_by']],
  'an unknown kind': ['list_models', { kind: 'a2v' }, ['/kind']],
  'an argument for a tool without arguments': ['get_balance', { currency: 'EUR' }, ['/currency']],
  'no run': ['get_run', {}, ['/run_id']],
  'a file name with a path': ['create_upload', { filename: '../a.png', mime_type: 'image/png' }, ['/filename']],
}

for (const revision of revisions) {
  t.test(`${revision}: refusals equal those of the API`, async t => {
    const customer = await openAccount(service, { credits: 19.5 })
    const client = await connect(t, customer, revision)
    for (const [name, [code, tool, args, ask]] of Object.entries(refused)) {
      const { request_id, ...error } = await refusal(client, tool, args)
      const { request_id: _, ...ofApi } = (await ask(customer)).body.error
      t.equal(error.code, code, name)
      // The words differ only where they name a route.
      const message = ofApi.message.replace('GET /v1/models', 'The tool list_models')
      t.same(error, { ...ofApi, message }, name)
      t.match(request_id, /^[0-9a-f-]{36}$/)
    }
    t.equal(await customer.balance(), 19.5)
    t.equal(
      (await call<Run>(await connect(t, owner, revision), 'get_run', { run_id: owned.run_id })).body.status,
      'completed',
    )
  })

  t.test(`${revision}: arguments are validated like request bodies`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    const head = await service.core.log.head()
    for (const [name, [tool, args, paths]] of Object.entries(malformed)) {
      const { code, message, errors = [] } = await refusal(client, tool, args)
      t.equal(code, 'invalid_request', name)
      t.same([...new Set(errors.map(({ path }) => path))].sort(), paths.toSorted(), name)
      t.match(message, errors[0]?.message, name)
    }
    t.equal(await service.core.log.head(), head)
  })

  t.test(`${revision}: internal errors are logged, and clients see none of their details`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    for (const [code, fault] of [
      ['internal_error', new Error('broken at 10.0.0.7')],
      ['unavailable', new Unavailable('broken at 10.0.0.7')],
    ] as const) {
      const listCalls = t.intercept(Offers.prototype, 'list', { value: () => Promise.reject(fault) })
      logged.length = 0
      const { request_id, ...error } = await refusal(client, 'list_models')
      t.match(logged, [{ err: fault, requestId: request_id, tool: 'list_models' }])
      const { request_id: _, ...ofApi } = (await customer.send('/v1/models')).body.error
      t.same(error, ofApi)
      t.equal(error.code, code)
      t.equal(listCalls().length, 2)
    }
  })

  t.test(`${revision}: an unknown tool is a protocol error`, async t => {
    const client = await connect(t, await openAccount(service), revision)
    for (const name of ['nope', '__proto__', 'constructor', ''])
      await t.rejects(client.callTool({ name, arguments: {} }), { code: -32602, message: /There is no tool/ }, name)
  })

  t.test(`${revision}: a key revoked during a connection is refused`, async t => {
    const customer = await openAccount(service)
    const client = await connect(t, customer, revision)
    await call(client, 'get_balance')
    const { accountId, keyId } = customer
    const { core } = service
    await core.accounts.execute({ kind: 'operator', name: 'test' }, accountId, { type: 'RevokeApiKey', keyId })
    await caughtUp(core)
    const error = await client.callTool({ name: 'get_balance', arguments: {} }).catch(error => error)
    t.match(error, { name: 'SdkHttpError', status: 401 })
  })
}
