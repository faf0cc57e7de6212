import t from 'tap'
import { isAcceptance } from '../../schemas/account-events.ts'
import type { PresignedUpload } from '../../schemas/api/upload.ts'
import { accountStream } from '../../schemas/events.ts'
import { type Client, picture, sandbox } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { filePart, textPart, upload } from '../support/multipart.ts'
import * as files from '../support/sample-files.ts'
import { type Customer, openAccount, startService } from '../support/service.ts'

const service = await startService(t)
const nulls = { webhook_url: null, metadata: null }
const parameters = { image_url: null, seed: null, num_images: null, thinking_level: null }

/** The inputs that the log holds of an account's runs. */
const recordedInputs = async ({ accountId }: Customer): Promise<Record<string, unknown>[]> =>
  (await collect(service.core.log.readStream(accountStream(accountId), 0)))
    .filter(isAcceptance)
    .map(({ data }) => (data as { input: Record<string, unknown> }).input)

t.test('null means absent, in optional fields and parameters', async t => {
  const customer = await openAccount(service)
  const { status, body } = await customer.run({ ...picture, ...nulls, input: { ...picture.input, ...parameters } })
  t.equal(status, 200)
  t.match(body, { status: 'completed', endpoint: 'nano-banana-2-t2i', credits_charged: 10 })
  t.notOk('metadata' in body)
  const [input] = await recordedInputs(customer)
  t.match(input, { prompt: picture.input.prompt, num_images: 1 })
  for (const name of ['image_url', 'thinking_level']) t.notOk(name in (input ?? {}), name)
  t.type(input?.['seed'], 'number', 'the service draws it')
})

t.test('null within metadata is kept', async t => {
  const customer = await openAccount(service)
  const metadata = { order: null, of: { none: null } }
  t.same((await customer.run({ ...picture, metadata })).body.metadata, metadata)
})

t.test('null in a required field or parameter is refused', async t => {
  const customer = await openAccount(service)
  const pathsOf = async (request: object) => {
    const { status, body } = await customer.run(request)
    t.equal(status, 400)
    return body.error.errors?.map(({ path, message }) => `${path} ${message}`)
  }
  t.same(await pathsOf({ ...picture, model: null }), ['/model must be a string'])
  t.same(await pathsOf({ ...picture, input: null }), ['/input must be an object'])
  t.same(await pathsOf({ ...picture, input: { prompt: null } }), ['/input/prompt is required'])
  t.same(await pathsOf({ ...picture, webhook: null }), [
    '/webhook is unknown; expected one of model, input, webhook_url, metadata, label, budget, max_credits, store, stream',
  ])
  t.equal(await customer.balance(), 100)
})

t.test('a repeat with null in place of an absent field is the same request', async t => {
  const customer = await openAccount(service, { tester: true })
  const headers = { 'Idempotency-Key': 'once' }
  const request = sandbox()
  const first = await customer.run(request, headers)
  for (const again of [
    { ...request, ...nulls },
    { ...request, input: { ...request.input, image_url: null, delay_ms: null } },
  ]) {
    const { body, headers: answered } = await customer.run(again, headers)
    t.same(body, first.body)
    t.equal(answered.get('Idempotent-Replayed'), 'true')
  }
  t.equal(await customer.balance(), 99)
})

t.test('the fields of a presigned upload may be null, and its folder empty', async t => {
  const customer = await openAccount(service)
  const wanted = { filename: 'a.png', mime_type: 'image/png' }
  const png = await files.picture('png')
  for (const fields of [{ size_bytes: null, folder_path: null }, { folder_path: '' }]) {
    const { status, body: grant } = await customer.post<PresignedUpload>('/v1/uploads/presigned', {
      ...wanted,
      ...fields,
    })
    t.equal(status, 200, JSON.stringify(fields))
    await fetch(grant.presigned_url, { method: 'PUT', headers: { 'Content-Type': 'image/png' }, body: png })
    t.notOk('folder_path' in (await customer.send(`/v1/uploads/${grant.id}`)).body)
  }
})

t.test('the folder in a form may be empty', async t => {
  const { status, body } = await upload(
    await openAccount(service),
    filePart(await files.picture('png')),
    textPart('folder_path', ''),
  )
  t.equal(status, 200)
  t.notOk('folder_path' in body)
})

t.test('a level may be a number, and is the text in the log', async t => {
  const customer = await openAccount(service)
  for (const safety_tolerance of [2, '2']) {
    const input = { ...picture.input, safety_tolerance }
    t.equal((await customer.run({ ...picture, input })).body.status, 'completed')
  }
  const inputs = await recordedInputs(customer)
  t.strictSame(
    inputs.map(input => input['safety_tolerance']),
    ['2', '2'],
  )
  const message = 'must be one of 1, 2, 3, 4, 5, 6'
  for (const safety_tolerance of [0, 7, 2.5, true]) {
    const { status, body } = await quote(customer, { ...picture.input, safety_tolerance })
    t.equal(status, 400)
    t.same(body.error.errors, [{ path: '/input/safety_tolerance', message }])
  }
})

t.test('an empty thinking level means off', async t => {
  const customer = await openAccount(service)
  const { body } = await customer.run({ ...picture, input: { ...picture.input, thinking_level: '' } })
  t.match(body, { status: 'completed', credits_charged: 10 })
  t.notOk('text' in (body.output ?? {}))
  const [input] = await recordedInputs(customer)
  t.notOk('thinking_level' in (input ?? {}))
})

t.test('an empty text is no choice where a parameter has a default', async t => {
  const customer = await openAccount(service)
  const { status, body } = await quote(customer, { ...picture.input, resolution: '' })
  t.equal(status, 400)
  t.match(body.error.errors, [{ path: '/input/resolution', message: 'must be one of 1K, 2K, 4K' }])
})

t.test('a thinking model returns its thoughts beside the pictures', async t => {
  const customer = await openAccount(service)
  const input = { ...picture.input, thinking_level: 'high', num_images: 2, seed: 7 }
  const { body } = await customer.run({ ...picture, input })
  t.equal(body.output?.urls?.length, 2)
  t.match(body.output?.text, picture.input.prompt)
  t.same((await customer.send(`/v1/runs/${body.run_id}`)).body, body)
})

t.test('speech models take the prompt as their text', async t => {
  for (const model of ['eleven-v3', 'minimax-speech-2-6']) {
    const customer = await openAccount(service)
    const ask = (input: object) => customer.run({ model, input })
    const { body } = await ask({ prompt: 'The ferry leaves.' })
    t.match(body, { status: 'completed', endpoint: `${model}-t2a`, output: { url: /\.(mp3|wav)$/ } })
    t.match(await recordedInputs(customer), [{ text: 'The ferry leaves.' }])
    const faultsOf = async (input: object) => (await ask(input)).body.error.errors
    t.match(await faultsOf({ prompt: 'a'.repeat(1001) }), [
      { path: '/input/prompt', message: 'must have at most 1000 characters' },
    ])
    t.match(await faultsOf({ prompt: 'a', text: 'b' }), [
      { path: '/input/prompt', message: /means the same as text; send only one of them$/ },
    ])
    t.match(await faultsOf({}), [{ path: '/input/text', message: 'is required' }])
    t.equal(await customer.balance(), 90)
  }
})

const quote = (customer: Client, input: object) =>
  customer.post('/v1/run?dry_run=true', { model: picture.model, input })
