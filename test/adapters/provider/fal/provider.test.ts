import t from 'tap'
import { createFalProvider } from '../../../../src/adapters/provider/fal/provider.ts'
import type { VendorDependencies } from '../../../../src/adapters/provider/vendor.ts'
import { type InputMedia, InputMediaError } from '../../../../src/ports/input-media.ts'
import type { UpstreamRequest } from '../../../../src/ports/provider.ts'
import { COMPLETED, FAL_KEY, PICTURES, startFal } from '../../../support/vendors/fal.ts'
import { accepted, vendorJob } from '../../../support/vendors/vendor-job.ts'
import { useFile, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'

// Nothing of the environment may be used.
process.env['FAL_KEY'] = 'a-key-of-the-environment'

const { signal } = new AbortController()

const picture: UpstreamRequest = {
  model: 'fal-ai/flux-pro/v1.1',
  operation: 'queue',
  parameters: { prompt: 'a lighthouse', image_size: 'square_hd' },
}

const start = async (file?: InputMedia, webhookUrl?: string) => {
  const stub = await startFal(t)
  const dependencies = { ...vendorDependencies(t, stub.url, FAL_KEY), ...(file && { useInputMedia: useFile(file) }) }
  const provider = createFalProvider({ ...dependencies, webhookUrl })
  return { stub, provider }
}

t.test('a job is submitted by one request, and polled by the address that fal gave it', async t => {
  const { stub, provider } = await start()
  const submitted = await provider.submit(vendorJob(picture), signal)

  t.match(submitted, { kind: 'submitted', jobId: /^fal-ai\/flux-pro\/requests\/764cabcf-[\w-]+$/, pollAfterMs: Number })
  t.equal(stub.requests.length, 1)
  const [request] = stub.requests
  t.match(request, {
    method: 'POST',
    path: '/fal-ai/flux-pro/v1.1',
    headers: { authorization: `Key ${FAL_KEY}`, 'x-fal-no-retry': '1', 'content-type': 'application/json' },
  })
  t.same(JSON.parse(String(request?.body)), picture.parameters)

  const { jobId } = submitted as { jobId: string }
  await provider.poll?.({ ...vendorJob(picture), input: async () => ({}), jobId }, signal)
  t.same(
    stub.requests.slice(1).map(({ method, path }) => `${method} ${path}`),
    [`GET /${jobId}/status?logs=0`, `GET /${jobId}`],
  )
})

t.test('a job waits, works and is done', async t => {
  const { stub, provider } = await start()
  stub.job = {
    states: [{ status: 'IN_QUEUE', queue_position: 3 }, { status: 'IN_PROGRESS', logs: null }, COMPLETED],
    result: { status: 200, body: PICTURES, headers: { 'x-fal-billable-units': '0.79' } },
  }
  const job = await accepted(provider, vendorJob(picture))

  t.same(await provider.poll?.(job, signal), { kind: 'working', pollAfterMs: 2_000, progress: 0 })
  t.same(await provider.poll?.(job, signal), { kind: 'working', pollAfterMs: 2_000 })
  t.same(await provider.poll?.(job, signal), {
    kind: 'done',
    media: [{ mimeType: 'image/jpeg', url: 'https://v3.fal.media/files/rabbit/one.jpeg' }],
    work: { units: { billable_units: 0.79 } },
  })
})

t.test('another instance polls the job by its id alone', async t => {
  const { stub, provider } = await start()
  const job = await accepted(provider, vendorJob(picture))
  const other = createFalProvider(vendorDependencies(t, stub.url, FAL_KEY))
  t.match(await other.poll?.(job, signal), { kind: 'done' })
})

t.test('the addresses of files are where the binding says, or in the usual places', async t => {
  const film = { url: 'https://v3.fal.media/files/x/film', content_type: 'video/mp4; codecs=avc1' }
  const cases: [string | undefined, unknown, object[]][] = [
    ['video.url', { video: film }, [{ mimeType: 'video/mp4', url: film.url }]],
    [undefined, { video: film, seed: 1 }, [{ mimeType: 'video/mp4', url: film.url }]],
    [
      'audio',
      { audio: 'https://v3.fal.media/a/song.wav' },
      [{ mimeType: 'audio/wav', url: 'https://v3.fal.media/a/song.wav' }],
    ],
    // A type that says nothing, and a name without an extension.
    [
      'audio_file.url',
      { audio_file: { url: 'https://a.b/1', content_type: 'application/octet-stream' } },
      [{ mimeType: 'audio/mpeg', url: 'https://a.b/1' }],
    ],
    [
      'images.*.url',
      { images: [{ url: 'https://a.b/1.webp' }, { url: 'https://a.b/2' }] },
      [
        { mimeType: 'image/webp', url: 'https://a.b/1.webp' },
        { mimeType: 'image/png', url: 'https://a.b/2' },
      ],
    ],
    // As `sync_mode` answers.
    [
      'images.*.url',
      { images: [{ url: 'data:image/png;base64,iVBORw0K', content_type: 'image/png' }] },
      [{ mimeType: 'image/png', bytes: Buffer.from('iVBORw0K', 'base64') }],
    ],
  ]
  const { stub, provider } = await start()
  for (const [output, body, media] of cases) {
    stub.job = { states: [COMPLETED], result: { status: 200, body } }
    const job = await accepted(provider, vendorJob({ ...picture, output }))
    t.same(await provider.poll?.(job, signal), { kind: 'done', media, work: {} }, JSON.stringify(body))
  }
})

t.test('a result without a usable file is a failure', async t => {
  const cases: [unknown, string][] = [
    [{ images: [] }, 'provider_error'],
    [{}, 'provider_error'],
    [{ images: [{ url: 'file:///etc/passwd' }] }, 'provider_error'],
    [{ images: 'https://a.b/1.png' }, 'provider_error'],
    [{ images: [{ url: null }, null, 7] }, 'provider_error'],
    [{ ...PICTURES, has_nsfw_concepts: [true] }, 'content_rejected'],
  ]
  const { stub, provider } = await start()
  for (const [body, code] of cases) {
    const result = { status: 200, body, headers: { 'x-fal-billable-units': '1' } }
    stub.job = { states: [COMPLETED], result }
    const job = await accepted(provider, vendorJob(picture))
    const outcome = await provider.poll?.(job, signal)
    t.match(outcome, { kind: 'failed', code, work: { units: { billable_units: 1 } } }, JSON.stringify(body))
  }
})

t.test('a file is sent as a data URL, and the webhook as a query', async t => {
  const file = { mimeType: 'image/png', bytes: Buffer.from('iVBORw0KGgo=', 'base64') }
  const { stub, provider } = await start(file, 'https://tollgate.example/callbacks/fal')
  const film = {
    model: 'bytedance/seedance-2.0/fast/image-to-video',
    operation: 'queue',
    parameters: { prompt: 'waves', image_url: { fileUrl: 'https://client.example/a.png' }, duration: '5' },
  }
  const { jobId } = await accepted(provider, vendorJob(film))

  t.match(jobId, /^bytedance\/seedance-2\.0\/requests\//)
  const [request] = stub.requests
  t.equal(
    request?.path,
    '/bytedance/seedance-2.0/fast/image-to-video?fal_webhook=' +
      encodeURIComponent('https://tollgate.example/callbacks/fal?run=run_01jx00000000000000000000aa'),
  )
  const image_url = 'data:image/png;base64,iVBORw0KGgo='
  t.same(JSON.parse(String(request?.body)), { prompt: 'waves', image_url, duration: '5' })
})

t.test('two files are sent, each in its place', async t => {
  const { stub } = await start()
  const urls = { image_url: 'https://client.example/a.png', end_image_url: 'https://client.example/b.png' }
  const dependencies: VendorDependencies = {
    ...vendorDependencies(t, stub.url, FAL_KEY),
    useInputMedia: async ({ url, further = [] }, _signal, use) => {
      t.same([url, ...further.map(file => file.url)], Object.values(urls))
      const [first, second] = [url, ...further.map(file => file.url)].map(each => Buffer.from(each))
      return use({ mimeType: 'image/png', bytes: first as Buffer }, { mimeType: 'image/jpeg', bytes: second as Buffer })
    },
  }
  const parameters = {
    start_image_url: { fileUrl: urls.image_url },
    end_image_url: { fileUrl: urls.end_image_url },
    prompt: 'waves',
  }
  const film = { model: 'fal-ai/kling-video/v3/pro/image-to-video', operation: 'queue', parameters }
  await accepted(createFalProvider(dependencies), { ...vendorJob(film), input: urls })
  t.same(JSON.parse(String(stub.requests[0]?.body)), {
    start_image_url: `data:image/png;base64,${Buffer.from(urls.image_url).toString('base64')}`,
    end_image_url: `data:image/jpeg;base64,${Buffer.from(urls.end_image_url).toString('base64')}`,
    prompt: 'waves',
  })
})

t.test('an unusable file is named by its parameter', async t => {
  const { stub } = await start()
  const error = new InputMediaError('The address returned text/html.')
  error.parameter = 'video_url'
  const dependencies = { ...vendorDependencies(t, stub.url, FAL_KEY), useInputMedia: () => Promise.reject(error) }
  const parameters = { prompt: 'waves', video_url: { fileUrl: 'https://client.example/a.html' } }
  const film = { model: 'fal-ai/veo3.1/extend-video', operation: 'queue', parameters }
  t.same(await createFalProvider(dependencies).submit(vendorJob(film), signal), {
    kind: 'failed',
    code: 'invalid_input',
    message: 'video_url: The address returned text/html.',
  })
  t.same(stub.requests, [])
})

t.test('a job may have a longer path', async t => {
  const { provider } = await start()
  for (const [model, app] of [
    ['workflows/acme/posters/print', 'workflows/acme/posters'],
    ['acme/suite/painter', 'acme/suite/painter'],
  ] as const) {
    const job = await accepted(provider, vendorJob({ ...picture, model }))
    t.ok(job.jobId.startsWith(`${app}/requests/`), model)
    t.match(await provider.poll?.(job, signal), { kind: 'done' })
  }
})

t.test('a job is cancelled, and one that has ended or is gone needs no cancelling', async t => {
  const { stub, provider } = await start()
  stub.job.states = [{ status: 'IN_PROGRESS' }, COMPLETED]
  const job = await accepted(provider, vendorJob(picture))
  await provider.cancel?.(job, signal)
  t.match(stub.requests.at(-1), { method: 'PUT', path: `/${job.jobId}/cancel` })

  await provider.poll?.(job, signal)
  await provider.poll?.(job, signal)
  await provider.cancel?.(job, signal)
  await provider.cancel?.({ ...job, jobId: 'fal-ai/flux-pro/requests/gone' }, signal)
  stub.fault = { status: 503, body: { detail: 'unavailable' } }
  await t.rejects(Promise.resolve(provider.cancel?.(job, signal)), { message: 'fal answered with 503' })
})

t.test('a job id is taken from any form of the address, and from no other host', async t => {
  const { stub, provider } = await start()
  const id = '764cabcf-b745'
  const cases: [object, string][] = [
    [
      { response_url: `https://queue.fal.run/fal-ai/flux-pro/requests/${id}/response` },
      `fal-ai/flux-pro/requests/${id}`,
    ],
    [{ response_url: `${stub.url}/fal-ai/flux-pro/requests/${id}` }, `fal-ai/flux-pro/requests/${id}`],
    [{ request_id: id }, `fal-ai/flux-pro/requests/${id}`],
  ]
  for (const [body, jobId] of cases) {
    stub.fault = { status: 200, body }
    t.equal((await accepted(provider, vendorJob(picture))).jobId, jobId)
  }
  const below = createFalProvider(vendorDependencies(t, `${stub.url}/proxy/fal`, FAL_KEY))
  stub.fault = { status: 200, body: { response_url: `${stub.url}/proxy/fal/fal-ai/flux-pro/requests/${id}` } }
  t.equal((await accepted(below, vendorJob(picture))).jobId, `fal-ai/flux-pro/requests/${id}`)
  t.equal(stub.requests.at(-1)?.path, '/proxy/fal/fal-ai/flux-pro/v1.1')
  stub.fault = { status: 200, body: { request_id: id } }
  const workflow = vendorJob({ ...picture, model: 'workflows/acme/posters/print' })
  t.equal((await accepted(provider, workflow)).jobId, `workflows/acme/posters/requests/${id}`)
})

t.test('the account is checked by a question that costs nothing', async t => {
  const { stub, provider } = await start()
  await provider.check?.(signal)
  t.same(
    stub.requests.map(({ method }) => method),
    ['GET'],
  )
  const stranger = createFalProvider(vendorDependencies(t, stub.url, 'no-key'))
  await t.rejects(Promise.resolve(stranger.check?.(signal)), { message: 'fal refuses the key; check FAL_KEY' })
  const secret = FAL_KEY.split(':')[1] ?? ''
  stub.fault = { status: 403, body: { detail: `The key ${secret} may not do this.` } }
  await t.rejects(
    Promise.resolve(provider.check?.(signal)),
    /^fal answered with 403: The key … may not do this\.; check/,
  )
})

t.test('an unusable file and a key that is none are refused before any request', async t => {
  const { stub, provider } = await start()
  const parameters = { prompt: 'waves', image_url: { fileUrl: 'https://client.example/a.html' } }
  t.match(await provider.submit(vendorJob({ ...picture, parameters }), signal), {
    kind: 'failed',
    code: 'invalid_input',
    message: 'image_url: The address returned text/html.',
  })
  t.throws(() => createFalProvider(vendorDependencies(t, stub.url, 'a key\n')), /^FAL_KEY holds a character/)
  t.same(stub.requests, [])
})
