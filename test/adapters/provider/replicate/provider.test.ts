import t from 'tap'
import { createReplicateProvider } from '../../../../src/adapters/provider/replicate/provider.ts'
import type { InputMedia } from '../../../../src/ports/input-media.ts'
import type { UpstreamRequest } from '../../../../src/ports/provider.ts'
import { REPLICATE_KEY, startReplicate, VERSION } from '../../../support/vendors/replicate.ts'
import { accepted, vendorJob } from '../../../support/vendors/vendor-job.ts'
import { useFile, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'

// Nothing of the environment may be used.
process.env['REPLICATE_API_TOKEN'] = 'a-key-of-the-environment'

const { signal } = new AbortController()

const picture: UpstreamRequest = {
  model: 'black-forest-labs/flux-schnell',
  operation: 'predictions',
  parameters: { prompt: 'a lighthouse', num_outputs: 1 },
}

const start = async (file?: InputMedia, webhookUrl?: string) => {
  const stub = await startReplicate(t)
  const dependencies = {
    ...vendorDependencies(t, stub.url, REPLICATE_KEY),
    ...(file && { useInputMedia: useFile(file) }),
  }
  return { stub, provider: createReplicateProvider({ ...dependencies, webhookUrl }) }
}

t.test('an official model is run by its name, with one request', async t => {
  const { stub, provider } = await start()
  const submitted = await provider.submit(vendorJob(picture), signal)

  t.same(submitted, { kind: 'submitted', jobId: 'gm3qorzdhgbfurvjtvhg6dckh0', pollAfterMs: 1_000 })
  t.equal(stub.requests.length, 1)
  const [request] = stub.requests
  t.match(request, {
    method: 'POST',
    path: '/v1/models/black-forest-labs/flux-schnell/predictions',
    headers: { authorization: `Bearer ${REPLICATE_KEY}` },
  })
  t.notOk(request?.headers['prefer'])
  t.same(JSON.parse(String(request?.body)), { input: picture.parameters })
})

t.test('an official model has no version', async t => {
  const { provider } = await start()
  const job = await accepted(provider, vendorJob(picture))
  t.same(await provider.poll?.(job, signal), {
    kind: 'done',
    media: [{ mimeType: 'image/webp', url: 'https://replicate.delivery/xezq/one/out-0.webp' }],
    work: { units: {} },
  })
})

t.test('another model is run by its version', async t => {
  const { stub, provider } = await start()
  for (const model of [VERSION, `acme/model:${VERSION}`]) {
    await accepted(provider, vendorJob({ ...picture, model }))
    const request = stub.requests.at(-1)
    t.equal(request?.path, '/v1/predictions')
    t.same(JSON.parse(String(request?.body)), { version: VERSION, input: picture.parameters })
  }
})

t.test('the end of a prediction is reported to the webhook', async t => {
  const { stub, provider } = await start(undefined, 'https://tollgate.example/callbacks/replicate')
  await accepted(provider, vendorJob(picture))
  t.match(JSON.parse(String(stub.requests[0]?.body)), {
    webhook: 'https://tollgate.example/callbacks/replicate?run=run_01jx00000000000000000000aa',
    webhook_events_filter: ['completed'],
  })
})

t.test('a prediction starts, works and is done; another instance knows it by its id', async t => {
  const { stub, provider } = await start()
  const metrics = { predict_time: 1.25, total_time: 2, image_count: 1, note: 'none', nested: { a: 1 } }
  stub.states = [
    { status: 'starting' },
    { status: 'processing', created_at: new Date(Date.now() - 50_000).toISOString() },
    { status: 'processing', created_at: '2020-01-01T00:00:00Z' },
    { status: 'processing', created_at: 'no time' },
    { status: 'paused' },
    { status: 'succeeded', output: ['https://replicate.delivery/xezq/one/out-0.webp'], metrics },
  ]
  const job = await accepted(provider, vendorJob({ ...picture, model: VERSION }))
  t.same(await provider.poll?.(job, signal), { kind: 'working', pollAfterMs: 1_000, progress: 0 })
  const working = await provider.poll?.(job, signal)
  t.ok(working?.kind === 'working' && working.pollAfterMs >= 5_000, 'a tenth of its age')
  t.same(await provider.poll?.(job, signal), { kind: 'working', pollAfterMs: 10_000 })
  t.same(await provider.poll?.(job, signal), { kind: 'working', pollAfterMs: 1_000 })
  t.same(await provider.poll?.(job, signal), { kind: 'working', pollAfterMs: 1_000 })

  const other = createReplicateProvider(vendorDependencies(t, stub.url, REPLICATE_KEY))
  t.same(await other.poll?.(job, signal), {
    kind: 'done',
    media: [{ mimeType: 'image/webp', url: 'https://replicate.delivery/xezq/one/out-0.webp' }],
    work: { version: VERSION, units: { predict_time: 1.25, total_time: 2, image_count: 1 } },
  })
})

const FILM = 'https://replicate.delivery/xezq/two/output.mp4'

t.test('an output is an address, a list of them, text in pieces, or what the binding says', async t => {
  const film = { mimeType: 'video/mp4', url: FILM }
  const cases: [unknown, string | undefined, object][] = [
    [FILM, undefined, { kind: 'done', media: [film] }],
    [[FILM, FILM], undefined, { kind: 'done', media: [film, film] }],
    [{ video: FILM, frames: 3 }, 'video', { kind: 'done', media: [film] }],
    [{ parts: [{ file: FILM }] }, 'parts.*.file', { kind: 'done', media: [film] }],
    [
      'data:image/png;base64,iVBORw0K',
      undefined,
      { kind: 'done', media: [{ mimeType: 'image/png', bytes: Buffer.from('iVBORw0K', 'base64') }] },
    ],
    ['https://a.b/file', undefined, { kind: 'done', media: [{ mimeType: 'application/octet-stream' }] }],
    [['Once', ' upon', ' a time'], undefined, { kind: 'done', media: [], text: 'Once upon a time' }],
    ['Once', undefined, { kind: 'done', media: [], text: 'Once' }],
    [['see ', FILM], undefined, { kind: 'done', media: [], text: `see ${FILM}` }],
    [FILM, 'text', { kind: 'done', media: [], text: FILM }],
    [null, undefined, { kind: 'failed', code: 'provider_error' }],
    [[], undefined, { kind: 'failed', code: 'provider_error' }],
    ['', undefined, { kind: 'failed', code: 'provider_error' }],
    [{ video: FILM }, undefined, { kind: 'failed', code: 'provider_error' }],
    [{ video: 'file:///etc/passwd' }, 'video', { kind: 'failed', code: 'provider_error' }],
  ]
  const { stub, provider } = await start()
  for (const [output, path, outcome] of cases) {
    stub.states = [{ status: 'succeeded', output }]
    const job = await accepted(provider, vendorJob({ ...picture, output: path }))
    t.match(await provider.poll?.(job, signal), outcome, JSON.stringify([output, path]))
  }
})

const withFile = { ...picture, parameters: { prompt: 'waves', image: { fileUrl: 'https://client.example/a.png' } } }

t.test('a small file is a data URL; a larger one is uploaded first', async t => {
  const small = { mimeType: 'image/png', bytes: Buffer.alloc(256 * 1024, 7) }
  const { stub, provider } = await start(small)
  await accepted(provider, vendorJob(withFile))
  t.equal(stub.requests.length, 1)
  const image = `data:image/png;base64,${small.bytes.toString('base64')}`
  t.same(JSON.parse(String(stub.requests[0]?.body)), { input: { prompt: 'waves', image } })

  const large = { mimeType: 'image/png', bytes: Buffer.alloc(256 * 1024 + 1, 7) }
  const second = await start(large)
  await accepted(second.provider, vendorJob(withFile))
  t.equal(second.stub.requests.length, 2)
  t.ok(second.stub.requests[0]?.body.includes(large.bytes))
  t.same(JSON.parse(String(second.stub.requests[1]?.body)), {
    input: { prompt: 'waves', image: 'https://api.replicate.com/v1/files/cneqzikepnug6xezperrr4z55o' },
  })
})

t.test('nothing is submitted if an upload fails', async t => {
  const { stub, provider } = await start({ mimeType: 'image/png', bytes: Buffer.alloc(300_000) })
  const unreachable = { kind: 'failed', code: 'provider_error', retryable: true, fault: { kind: 'unreachable' } }
  for (const fault of ['cut', 'break', { status: 502, body: 'no' }, { status: 200, body: {} }] as const) {
    stub.uploadFault = fault
    t.match(await provider.submit(vendorJob(withFile), signal), unreachable)
  }
  stub.uploadFault = { status: 402, body: { detail: 'no credit' } }
  t.match(await provider.submit(vendorJob(withFile), signal), { kind: 'failed', fault: { kind: 'out_of_quota' } })
  stub.uploadFault = { status: 413, body: { detail: 'too large' } }
  t.match(await provider.submit(vendorJob(withFile), signal), { kind: 'failed', code: 'invalid_input' })
  stub.uploadFault = 'hang'
  const abort = new AbortController()
  const submitted = provider.submit(vendorJob(withFile), abort.signal)
  setTimeout(() => abort.abort(), 100)
  await t.rejects(submitted, { name: 'AbortError' })
  t.same(stub.submissions(), [])
})

t.test('a prediction is cancelled, and one that is gone needs no cancelling', async t => {
  const { stub, provider } = await start()
  stub.states = [{ status: 'processing' }]
  const job = await accepted(provider, vendorJob(picture))
  await provider.cancel?.(job, signal)
  t.match(stub.requests.at(-1), { method: 'POST', path: `/v1/predictions/${job.jobId}/cancel` })
  t.match(await provider.poll?.(job, signal), {
    kind: 'failed',
    code: 'provider_error',
    work: { units: { predict_time: 0.5 } },
  })
  await provider.cancel?.({ ...job, jobId: 'gone' }, signal)
  for (const status of [302, 401, 429, 500, 503]) {
    stub.fault = { status, body: {} }
    await t.rejects(Promise.resolve(provider.cancel?.(job, signal)), { message: `Replicate answered with ${status}` })
  }
})

t.test('the account is checked by a call that costs nothing', async t => {
  const { stub, provider } = await start()
  await provider.check?.(signal)
  t.same(
    stub.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /v1/account'],
  )
  const stranger = createReplicateProvider(vendorDependencies(t, stub.url, 'r8_no'))
  const refused = { message: 'Replicate refuses the key; check REPLICATE_API_TOKEN' }
  await t.rejects(Promise.resolve(stranger.check?.(signal)), refused)
  stub.fault = { status: 403, body: { detail: `no access with ${REPLICATE_KEY}` } }
  await t.rejects(Promise.resolve(provider.check?.(signal)), /^Replicate answered with 403: no access with …; check/)
})

t.test('an unusable file and a key that is none are refused before any request', async t => {
  const { stub, provider } = await start()
  const parameters = { prompt: 'waves', image: { fileUrl: 'https://client.example/a.html' } }
  t.match(await provider.submit(vendorJob({ ...picture, parameters }), signal), {
    kind: 'failed',
    code: 'invalid_input',
    message: 'image_url: The address returned text/html.',
  })
  t.throws(
    () => createReplicateProvider(vendorDependencies(t, stub.url, 'a key\n')),
    /^REPLICATE_API_TOKEN holds a character/,
  )
  t.same(stub.requests, [])
})
