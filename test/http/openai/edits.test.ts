import { createReadStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { basename, join } from 'node:path'
import OpenAI, { toFile } from 'openai'
import t from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import type { ErrorBody } from '../../../schemas/api/error.ts'
import examples from '../../../schemas/api/examples.json' with { type: 'json' }
import type { ImageAnswer } from '../../../schemas/api/openai/images.ts'
import type { RunList } from '../../../schemas/api/run.ts'
import type { UploadList } from '../../../schemas/api/upload.ts'
import { accountStream } from '../../../schemas/events.ts'
import { Unavailable } from '../../../src/ports/faults.ts'
import { collect } from '../../support/collect.ts'
import { type FormPart, filePart, formOf, formType, imagePart, textPart, upload } from '../../support/multipart.ts'
import { openAiClient } from '../../support/openai-client.ts'
import { recorded } from '../../support/recorded.ts'
import { film, picture } from '../../support/sample-files.ts'
import { type Customer, instantProvider, openAccount, openKey, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { until } from '../../support/until.ts'
import { fates, uploadEvents } from '../../support/uploads.ts'
import { KEY, PNG, startOpenAi } from '../../support/vendors/openai.ts'
import { reply } from '../../support/vendors/vendor-server.ts'

const vendor = await startOpenAi(t)
const folder = await temporaryFolder(t)
const ofVendor = await startService(t, {
  folder,
  environment: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: vendor.url },
})
const service = await startService(t, { providers: { sandbox: instantProvider } })
const { core } = ofVendor

const [png, other, jpeg] = [await picture('png'), await picture('png', 7), await picture('jpeg')]
const prompt = 'make it winter'
const model = 'gpt-image-2-6'

const runsOf = async (owner: Customer) => (await owner.send<RunList>('/v1/runs?include=input')).body.data
const uploadsOf = async (owner: Customer) => (await owner.send<UploadList>('/v1/uploads')).body.data
const fetchBytes = async (url = '') =>
  Buffer.from(await (await fetch(url.replace('//localhost', '//127.0.0.1'))).arrayBuffer())
const leftovers = () => readdir(join(folder, 'objects', 'arriving'))
const stored = () => readdir(join(folder, 'objects', 'uploads')).catch((): string[] => [])
/** The uploads of an account in the log. */
const grantsOf = async ({ accountId }: Customer, { log } = core) =>
  (await uploadEvents(log, { accountId })).flatMap(({ type, data }) => (type === 'UploadGranted' ? [data] : []))
const eventsOf = async ({ accountId }: Customer) =>
  ((await collect(core.log.readStream(accountStream(accountId), 0))) as unknown as AccountEvent[]).map(
    ({ type }) => type,
  )

const texts = (fields: Record<string, string>) => Object.entries(fields).map(([name, text]) => textPart(name, text))

const send = (owner: Customer, parts: FormPart[], headers: Record<string, string> = {}, signal?: AbortSignal) =>
  owner.send<ImageAnswer & ErrorBody>('/v1/images/edits', {
    method: 'POST',
    headers: { 'Content-Type': formType, ...headers },
    body: formOf(...parts),
    ...(signal && { signal }),
  })

const cheap = texts({ model, prompt, quality: 'low', response_format: 'url' })

t.test('a file of the official client is an upload, and the edit a run', async t => {
  const owner = await openAccount(ofVendor)
  const { client, sent } = openAiClient(owner)
  const path = join(await temporaryFolder(t), 'garden.png')
  await writeFile(path, png)
  const images = [
    await toFile(png, 'garden.png'),
    [await toFile(png, 'garden.png', { type: 'image/png' })],
    createReadStream(path),
  ]
  for (const image of images) {
    const { data, usage } = await client.images.edit({
      ...{ model, prompt, image, n: 2, size: '1536x1024', quality: 'low', output_format: 'webp', user: '17' },
      ...{ output_compression: 90, response_format: 'url', stream: false, background: 'auto' },
    })
    const { 'image[]': sentImage, ...parameters } = vendor.bodies.at(-1) ?? {}
    t.match(parameters, { prompt, n: '2', size: '1536x1024', quality: 'low', output_compression: '90' })
    t.match(sentImage, { type: 'image/png', bytes: png })
    const [run] = await runsOf(owner)
    const granted = (await grantsOf(owner)).at(-1)
    t.match(run, {
      ...{ model, endpoint: 'gpt-image-2-6-i2i', status: 'completed', metadata: { user: '17' } },
      input: { image_url: `${ofVendor.url}/cdn/${granted?.objectKey}`, num_images: 2 },
    })
    t.match(granted, { filename: 'garden.png', mimeType: 'image/png', maxSizeBytes: png.length })
    t.same(
      data?.map(({ url }) => url),
      run?.output?.urls,
    )
    t.match(usage, { credits: 9.6, run_id: run?.run_id })
    t.equal(sent.at(-1)?.headers.get('Tollgate-Run'), run?.run_id)
  }
  t.equal(await owner.balance(), 71.2)
  t.same(await leftovers(), [])
})

/** The vendor answers when it is told to. */
const waitingVendor = () => {
  const asked = new Promise<ServerResponse>(resolve => {
    vendor.answer = resolve
  })
  const image = { created: 1, data: [{ b64_json: PNG.toString('base64') }] }
  return { asked, finish: async () => reply(await asked, 200, image) }
}

t.test('while a run goes on, its file is an upload', async t => {
  const owner = await openAccount(ofVendor)
  const { asked, finish } = waitingVendor()
  const sent = send(owner, [...cheap, imagePart(png)])
  await asked
  const [run] = await runsOf(owner)
  const [kept] = await uploadsOf(owner)
  t.match(kept, { url: run?.input?.['image_url'], filename: 'a.png', mime_type: 'image/png' })
  t.same(await fetchBytes(kept?.url), png)
  await finish()
  t.equal((await sent).status, 200)
  delete vendor.answer
  t.same(await uploadsOf(owner), [])
  t.notOk((await stored()).includes(basename(kept?.url ?? '')))
})

t.test('the files themselves are in the answer on request', async t => {
  const { client } = openAiClient(await openAccount(ofVendor))
  const asked = { model, prompt, image: await toFile(png, 'a.png'), response_format: 'b64_json' } as const
  const { data } = await client.images.edit(asked)
  t.same(
    data?.map(({ b64_json = '' }) => Buffer.from(b64_json, 'base64')),
    [PNG],
  )
})

t.test('JSON names an upload, another address or holds a small image', async t => {
  const owner = await openAccount(ofVendor)
  const { body: kept } = await upload(owner, filePart(png))
  for (const image_url of [kept.url, `data:image/png;base64,${png.toString('base64')}`]) {
    const body = { model, prompt, quality: 'low', images: [{ image_url }], response_format: 'url' }
    const { status, body: answer } = await owner.post<ImageAnswer>('/v1/images/edits', body)
    t.equal(status, 200)
    t.match(vendor.bodies.at(-1), { prompt, 'image[]': { bytes: png } })
    t.match(await runsOf(owner), [{ run_id: answer.usage.run_id, endpoint: 'gpt-image-2-6-i2i', input: { image_url } }])
  }
  t.equal((await uploadsOf(owner)).length, 1)
})

t.test('the example is the answer of the service', async t => {
  const owner = await openAccount(service)
  const { body } = await owner.post('/v1/images/edits', examples.requests.openAiEdit)
  recorded(t, 'openAiEdit', body)
})

t.test('the texts of a form get the types of the model', async t => {
  const owner = await openAccount(service, { credits: 1000 })
  const cases: [form: Record<string, string>, run: object][] = [
    [{ model: 'nano-banana-2', seed: '42', n: '2' }, { input: { seed: 42, num_images: 2 } }],
    [
      { model: 'nano-banana-2', safety_tolerance: '4', enable_web_search: 'true' },
      { input: { enable_web_search: true } },
    ],
    [{ model: 'nano-banana-2', seed: 'null', size: '1024x1024' }, { input: { aspect_ratio: '1:1', resolution: '1K' } }],
    [{ model: 'nano', 'metadata[order]': '17', user: '4' }, { metadata: { order: '17', user: '4' } }],
    [{ model: 'nano-banana-2-i2i', stream: 'false', partial_images: '0' }, { endpoint: 'nano-banana-2-i2i' }],
    [{ model: 'nano-banana-2', prompt: '42' }, { input: { prompt: '42' } }],
  ]
  for (const [form, run] of cases) {
    const { status, text } = await send(owner, [imagePart(jpeg), ...texts({ prompt, ...form })])
    t.equal(status, 200, text)
    t.match((await runsOf(owner))[0], run, JSON.stringify(form))
  }
  const [granted] = await grantsOf(owner, service.core)
  t.equal(granted?.mimeType, 'image/jpeg', 'the content decides on the type')
})

t.test('what cannot be honoured is refused with its name, costs nothing and leaves nothing', async t => {
  const owner = await openAccount(ofVendor)
  const asked = texts({ model, prompt })
  const image = imagePart(png)
  const cases: [name: string, parts: FormPart[], param: string | null, status?: number, message?: RegExp][] = [
    ['a mask', [...asked, image, imagePart(png, 'mask')], 'mask'],
    ['a mask first', [imagePart(png, 'mask'), ...asked, image], 'mask'],
    ['two images', [...asked, image, image], 'image', 400, /models edit one image/],
    ['two images in a list', [...asked, imagePart(png, 'image[]'), imagePart(other, 'image[]')], 'image'],
    ['no image', asked, 'image', 400, /required/],
    ['a text as an image', [...asked, textPart('image', 'https://example.com/a.png')], 'image', 400, /not accepted/],
    [
      'a video',
      [...asked, imagePart(await film())],
      'image',
      400,
      /^image cannot be used\. The file .*, not an image\.$/,
    ],
    ['an image that is cut off', [...asked, imagePart(png.subarray(0, -9))], 'image', 400, /truncated/],
    ['an empty file', [...asked, imagePart(Buffer.alloc(0))], 'image', 400, /empty/],
    ['a file as a text', [...asked, image, imagePart(png, 'style')], 'style', 400, /not a file/],
    ['no model', [...texts({ prompt }), image], 'model', 400, /required/],
    ['no prompt', [...texts({ model }), image], 'prompt', 400, /required/],
    ['an empty prompt', [...texts({ model, prompt: '' }), image], 'prompt'],
    ['an unknown model', [...texts({ model: 'gpt-image-0', prompt }), image], null, 404],
    ['a model of texts', [...texts({ model: 'gpt-6-1-terra', prompt }), image], 'model', 400, /edits images/],
    ['a model that edits none', [...texts({ model: 'z-image-turbo', prompt }), image], 'model', 400, /edits images/],
    ['an endpoint for texts', [...texts({ model: `${model}-t2i`, prompt }), image], 'model', 400, /edits images/],
    ['twice the same', [...asked, textPart('prompt', 'b'), image], 'prompt', 400, /twice/],
    ['n as a word', [...asked, textPart('n', 'two'), image], 'n', 400, /integer/],
    ['n of many digits', [...asked, textPart('n', '1'.repeat(20)), image], 'n', 400, /integer/],
    ['too many', [...asked, textPart('n', '9'), image], 'n', 400, /at most 4/],
    [
      'both names',
      [...asked, image, textPart('image_url', 'https://example.com/a.png')],
      'image_url',
      400,
      /same as image/,
    ],
    ['an odd size', [...asked, textPart('size', '64x64'), image], 'size'],
    ['high fidelity', [...asked, textPart('input_fidelity', 'high'), image], 'input_fidelity', 400, /unknown/],
    ['a stream', [...asked, textPart('stream', 'true'), image], 'stream'],
    ['partial images', [...asked, textPart('partial_images', '2'), image], 'partial_images'],
    ['another format', [...asked, textPart('response_format', 'file'), image], 'response_format'],
    ['a constructor', [...asked, textPart('constructor', 'a'), image], 'constructor', 400, /unknown/],
    ['a prototype', [...asked, textPart('__proto__', 'a'), image], '__proto__'],
    [
      'a name for a folder',
      [...asked, { ...image, headers: image.headers.toString().replace('a.png', '..') }],
      'filename',
    ],
    ['a part without a name', [...asked, image, { headers: 'Content-Disposition: form-data', body: 'a' }], null],
    ['a long text', [...asked, textPart('prompt2', '猫'.repeat(200_000)), image], null, 413],
    ['long texts', [image, ...texts({ a: 'a'.repeat(200_000), b: 'a'.repeat(200_000) })], null, 413],
    ['a long prompt', [...texts({ model, prompt: 'a'.repeat(300_000) }), image], 'prompt'],
    ['many parts', [image, ...texts(Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`p${n}`, ''])))], null],
    ['a large file', [...asked, imagePart(Buffer.concat([png, Buffer.alloc(26_300_000)]))], null, 413],
  ]
  const [head, files] = [await core.log.head(), await stored()]
  for (const [name, parts, param, status = 400, message = /./] of cases) {
    const answer = await send(owner, parts)
    t.match(answer, { status, body: { error: { type: 'invalid_request_error', param, message } } }, name)
  }
  const cut = formOf(...asked, image).subarray(0, -20)
  t.match(await owner.send('/v1/images/edits', { method: 'POST', headers: { 'Content-Type': formType }, body: cut }), {
    status: 400,
    body: { error: { code: 'invalid_multipart', type: 'invalid_request_error' } },
  })
  t.match(
    await owner.send('/v1/images/edits', { method: 'POST', headers: { 'Content-Type': 'image/png' }, body: png }),
    {
      status: 400,
      body: { error: { code: 'unsupported_media_type' } },
    },
  )
  t.equal(await core.log.head(), head)
  t.same(await stored(), files)
  t.same(await leftovers(), [])
})

t.test('JSON that cannot be honoured is refused with its name, and costs nothing', async t => {
  const owner = await openAccount(ofVendor)
  const stranger = await openAccount(ofVendor)
  const { body: foreign } = await upload(stranger, filePart(png))
  const asked = { model, prompt, images: [{ image_url: 'https://example.com/a.png' }] }
  const cases: [body: object, param: string | null][] = [
    [{ ...asked, mask: asked.images[0] }, 'mask'],
    [{ ...asked, images: [...asked.images, ...asked.images] }, 'images'],
    [{ ...asked, images: [] }, 'images'],
    [{ ...asked, images: [{ file_id: 'file-1' }] }, 'images[0]'],
    [{ ...asked, images: [{ image_url: 'ftp://example.com/a.png' }] }, 'images[0].image_url'],
    [{ ...asked, images: [{ image_url: 'http://127.0.0.1/a.png' }] }, 'images[0].image_url'],
    [{ ...asked, images: [{ image_url: 'data:image/png;base64,AAAA' }] }, 'images[0].image_url'],
    [{ ...asked, images: [{ image_url: foreign.url }] }, 'images[0].image_url'],
    [{ ...asked, images: [{ image_url: `data:image/png,${'a'.repeat(300_000)}` }] }, 'images[0].image_url'],
    [{ ...asked, image_url: 'https://example.com/a.png' }, 'image_url'],
    [{ ...asked, image: 'https://example.com/a.png' }, 'image'],
    [{ model, prompt }, 'images'],
    [{ ...asked, n: '2' }, 'n'],
  ]
  const head = await core.log.head()
  for (const [body, param] of cases)
    t.match(
      await owner.post('/v1/images/edits', body),
      { status: 400, body: { error: { type: 'invalid_request_error', param } } },
      JSON.stringify(body).slice(0, 200),
    )
  t.equal(await core.log.head(), head)
})

t.test('without credits, or beyond a limit of the key, a file leaves no trace', async t => {
  const rich = await openAccount(ofVendor)
  const cases: [owner: Customer, status: number, code: string][] = [
    [await openAccount(ofVendor, { credits: 1 }), 402, 'insufficient_credits'],
    [await openKey(ofVendor, rich, { budget: { amountMicros: 1_000_000, period: 'day' } }), 402, 'budget_exceeded'],
    [await openKey(ofVendor, rich, { models: ['veo-3-1'] }), 403, 'forbidden'],
    [await openKey(ofVendor, rich, { scope: 'read' }), 403, 'forbidden'],
  ]
  for (const [owner, status, code] of cases) {
    // The first use of a key is recorded.
    await owner.send('/v1/key')
    await until('the use is recorded', async () => {
      const key = (await core.accounts.state(owner.accountId)).activeKeys.get(owner.keyId)
      return key?.usedOn !== undefined
    })
    const [head, files] = [await core.log.head(), await stored()]
    t.match(await send(owner, [...cheap, imagePart(png)]), { status, body: { error: { code } } })
    t.equal(await core.log.head(), head, code)
    t.same(await stored(), files)
  }
  t.same(await leftovers(), [])
})

t.test('an account without room for uploads is not charged', async t => {
  const small = await startService(t, {
    environment: { UPLOAD_QUOTA: '1MB' },
    providers: { sandbox: instantProvider },
  })
  const owner = await openAccount(small)
  const large = Buffer.concat([png, Buffer.alloc(1_100_000)])
  const form = [...texts({ model: 'nano-banana-2', prompt }), imagePart(large)]
  t.match(await send(owner, form), { status: 429, body: { error: { code: 'rate_limited' } } })
  t.equal(await owner.balance(), 100)
  t.same(await runsOf(owner), [])
})

t.test('with a key for the request, the same image is the same request', async t => {
  const owner = await openAccount(ofVendor)
  const headers = { 'Idempotency-Key': 'winter' }
  const first = await send(owner, [...cheap, imagePart(png)], headers)
  const files = await stored()
  // Neither the name of the file nor the order of the parts matters.
  const again = await send(owner, [{ ...imagePart(png, 'image[]') }, ...cheap.toReversed()], headers)
  t.match(again, { status: 200, body: first.body })
  t.equal(again.headers.get('Idempotent-Replayed'), 'true')
  const mismatch = { status: 422, body: { error: { code: 'idempotency_mismatch' } } }
  t.match(await send(owner, [...cheap, imagePart(other)], headers), mismatch)
  t.match(await send(owner, [...cheap, textPart('n', '2'), imagePart(png)], headers), mismatch)
  t.same(await stored(), files)
  t.equal((await grantsOf(owner)).length, 1)
  t.equal(await owner.balance(), 94)
  // A repetition finds its run even if a new run would be refused.
  const withdrawal = { amountMicros: 94_000_000, kind: 'correction', reference: 'w', reason: 'test' } as const
  await core.services.accounts.withdraw({ kind: 'operator', name: 'test' }, owner.accountId, withdrawal)
  t.match(await send(owner, [...cheap, imagePart(png)], headers), { status: 200, body: first.body })
  t.same(await leftovers(), [])
})

t.test('of equal requests at the same time, one is a run, and no upload stays', async t => {
  const owner = await openAccount(ofVendor)
  const headers = { 'Idempotency-Key': 'at-once' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(owner, [...cheap, imagePart(png)], headers)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.equal((await runsOf(owner)).length, 1)
  t.same(await uploadsOf(owner), [])
  t.equal(await owner.balance(), 94)
})

t.test('a client that repeats a request gets the run of the first, and is charged once', async t => {
  const owner = await openAccount(ofVendor)
  const { asked, finish } = waitingVendor()
  const cut = new AbortController()
  const first = send(owner, [...cheap, imagePart(png)], { 'X-Stainless-Retry-Count': '0' }, cut.signal)
  first.catch(() => undefined)
  await asked
  cut.abort()
  await t.rejects(first)
  const second = send(owner, [...cheap, imagePart(png)], { 'X-Stainless-Retry-Count': '1' })
  await finish()
  const { status, headers, body } = await second
  delete vendor.answer
  t.equal(status, 200)
  t.equal(headers.get('Idempotent-Replayed'), 'true')
  t.match(await runsOf(owner), [{ run_id: body.usage.run_id }])
  t.equal((await grantsOf(owner)).length, 1)
  t.equal(await owner.balance(), 94)
  const third = await send(owner, [...cheap, imagePart(other)], { 'X-Stainless-Retry-Count': '1' })
  t.not(third.body.usage.run_id, body.usage.run_id, 'another image is another request')
})

t.test('a run that is refused although it could have been accepted takes its upload along', async t => {
  const owner = await openAccount(ofVendor, { credits: 10 })
  const { accounts } = core
  const { foresee } = accounts
  accounts.foresee = async (...command) => {
    accounts.foresee = foresee
    const foreseen = await foresee.apply(accounts, command)
    t.equal((await owner.run({ model, input: { prompt, quality: 'medium' } })).status, 200)
    return foreseen
  }
  const refused = await send(owner, [...cheap, imagePart(png)])
  t.match(refused, { status: 402, body: { error: { code: 'insufficient_credits' } } })
  t.same(await uploadsOf(owner), [])
  t.same((await eventsOf(owner)).slice(-4), [
    'UploadGranted',
    'UploadStored',
    'UploadDeletionRequested',
    'UploadDeleted',
  ])
  t.equal(await owner.balance(), 4.5)
})

t.test('if the log does not answer, the upload of a possible run stays, and a repetition finds the run', async t => {
  const owner = await openAccount(ofVendor)
  const { accounts } = core
  const { execute } = accounts
  accounts.execute = async (...command) => {
    const outcome = await execute.apply(accounts, command)
    if (command[2].type !== 'QueueRun') return outcome
    accounts.execute = execute
    throw new Unavailable('the answer of the log was lost')
  }
  t.equal((await send(owner, [...cheap, imagePart(png)])).status, 503)
  // Nobody works on the run until its lease ends.
  const patience = AbortSignal.timeout(1_000)
  await t.rejects(send(owner, [...cheap, imagePart(png)], { 'X-Stainless-Retry-Count': '1' }, patience))
  t.equal((await runsOf(owner)).length, 1)
  t.equal((await uploadsOf(owner)).length, 1)
  t.equal(await owner.balance(), 94)
})

t.test('a failed run is refunded, and its upload is deleted', async t => {
  vendor.answer = response => reply(response, 500, { error: { message: 'no', type: 'server_error' } })
  const owner = await openAccount(ofVendor)
  t.match(await send(owner, [...cheap, imagePart(png)]), { status: 502, body: { error: { code: 'provider_error' } } })
  delete vendor.answer
  t.equal(await owner.balance(), 100)
  t.same(await fates(core.log, owner), {
    [(await grantsOf(owner))[0]?.uploadId ?? '']: ['sealed', 'deleting', 'requested'],
  })
})

t.test('a test key edits in the sandbox, with an upload of its mode', async t => {
  const live = await openAccount(ofVendor)
  const test = await openKey(ofVendor, live, { livemode: false })
  const calls = vendor.bodies.length
  t.equal((await send(test, [...cheap, imagePart(png)])).status, 200)
  t.match(await runsOf(test), [{ livemode: false, provider: 'sandbox' }])
  t.match(await grantsOf(live), [{ livemode: false }])
  t.equal(vendor.bodies.length, calls)
  t.equal(await live.balance(), 100)
})

t.test('the errors reach the official client', async t => {
  const owner = await openAccount(ofVendor)
  const client = new OpenAI({ baseURL: `${owner.url}/v1`, apiKey: owner.apiKey, maxRetries: 0 })
  const image = await toFile(png, 'a.png')
  await t.rejects(client.images.edit({ model, prompt, image, mask: image }), {
    status: 400,
    param: 'mask',
    message: /mask/,
  })
  await t.rejects(client.images.edit({ model, prompt, image: [image, image] }), {
    status: 400,
    param: 'image',
    message: /one image/,
  })
})
