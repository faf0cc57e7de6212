import t from 'tap'
import { createGoogleProvider } from '../../../../src/adapters/provider/google/provider.ts'
import { googleError, googleKey, videoDone, videoOperation } from '../../../support/vendors/google.ts'
import { endsWithSignal } from '../../../support/vendors/hang.ts'
import { acceptedJob, vendorJob } from '../../../support/vendors/vendor-job.ts'
import { picture, pictureBytes, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'
import { type Handler, reply, startVendorServer } from '../../../support/vendors/vendor-server.ts'
import { arrivals, bodyOf, cutAnswer, given, never, rejected, undone } from './support.ts'

const model = 'veo-3.1-generate-preview'
const job = vendorJob({
  model,
  operation: 'generateVideos',
  parameters: {
    prompt: 'Waves at dawn',
    config: { aspectRatio: '16:9', durationSeconds: 8, resolution: '1080p', negativePrompt: 'text' },
  },
})
const accepted = acceptedJob(job, videoOperation)
const poll = `GET /v1beta/${videoOperation}`
const fileAddress = 'https://generativelanguage.googleapis.com/v1beta/files/8xwk4uyz5zyx:download?alt=media'
const download = 'GET /v1beta/files/8xwk4uyz5zyx:download?alt=media'
const oneVideo = videoDone({ generatedSamples: [{ video: { uri: fileAddress } }] })

const film: Handler = (_request, response) => response.writeHead(200, { 'Content-Type': 'video/mp4' }).end('a film')
const always =
  (answer: unknown, status = 200): Handler =>
  (_request, response) =>
    reply(response, status, answer)

/** Answers a poll with one video, and the download of it as `onDownload` says. */
const finished =
  (onDownload: Handler): Handler =>
  (request, response) =>
    request.path.includes(':download') ? onDownload(request, response) : reply(response, 200, oneVideo)

t.test('a film is a job, by the name of its operation', async t => {
  const { provider, server } = await given(t, always({ name: videoOperation }))
  t.same(await provider.submit(job, never), { kind: 'submitted', jobId: videoOperation, pollAfterMs: 10_000 })
  t.same(arrivals(server), [`POST /v1beta/models/${model}:predictLongRunning`])
  t.same(bodyOf(server), {
    instances: [{ prompt: 'Waves at dawn' }],
    parameters: { aspectRatio: '16:9', durationSeconds: 8, resolution: '1080p', negativePrompt: 'text' },
  })
})

t.test('a picture is animated', async t => {
  const { provider, server } = await given(t, always({ name: videoOperation }))
  const parameters = { prompt: 'It moves', image: picture }
  await provider.submit({ ...job, upstream: { ...job.upstream, parameters } }, never)
  const image = { bytesBase64Encoded: pictureBytes.toString('base64'), mimeType: 'image/png' }
  t.same(bodyOf(server).instances, [{ prompt: 'It moves', image }])
})

t.test('a job without a usable name cannot be found again', async t => {
  for (const name of [undefined, 7, '', 'a b', 'x'.repeat(256)])
    await t.test(String(name), async t => {
      const { provider, server } = await given(t, always({ name }))
      await t.rejects(provider.submit(job, never), { message: 'Google accepted a job without giving its ID' })
      t.equal(server.requests.length, 1)
    })
})

t.test('a finished film is loaded with the key, from the configured address', async t => {
  const { provider, server } = await given(t, finished(film))
  const outcome = await provider.poll(accepted, never)
  t.same(outcome, { kind: 'done', media: [{ mimeType: 'video/mp4', bytes: Buffer.from('a film') }] })
  t.same(arrivals(server), [poll, download])
  t.equal(server.requests[1]?.headers['x-goog-api-key'], googleKey)
  t.notMatch(JSON.stringify(outcome), googleKey)
})

t.test('a film is loaded through a proxy below a path', async t => {
  const server = await startVendorServer(t, (request, response) => {
    if (request.path.includes(':download')) return film(request, response)
    const uri = `${server.url}/gemini/v1beta/files/8xwk4uyz5zyx:download?alt=media`
    reply(response, 200, videoDone({ generatedSamples: [{ video: { uri } }] }))
  })
  const provider = createGoogleProvider(vendorDependencies(t, `${server.url}/gemini`, googleKey))
  t.match(await provider.poll?.(accepted, never), { media: [{ bytes: Buffer.from('a film') }] })
  t.same(arrivals(server), [
    `GET /gemini/v1beta/${videoOperation}`,
    'GET /gemini/v1beta/files/8xwk4uyz5zyx:download?alt=media',
  ])
})

t.test('redirects of a download', async t => {
  const redirect =
    (Location: string): Handler =>
    (_request, response) =>
      response.writeHead(302, { Location }).end()
  const path = '/download/v1beta/files/8xwk4uyz5zyx:download?alt=media'
  for (const Location of [path, `https://generativelanguage.googleapis.com${path}`])
    await t.test(`one within the API is followed with the key, to the configured address: ${Location}`, async t => {
      const { provider, server } = await given(t, (request, response) =>
        request.path === path ? film(request, response) : finished(redirect(Location))(request, response),
      )
      t.match(await provider.poll(accepted, never), { media: [{ bytes: Buffer.from('a film') }] })
      t.same(arrivals(server), [poll, download, `GET ${path}`])
    })
  await t.test('the address of one to another server is the result', async t => {
    const other = await startVendorServer(t, film)
    const Location = `${other.url}/film?signature=1`
    const { provider } = await given(t, finished(redirect(Location)))
    t.same(await provider.poll(accepted, never), { kind: 'done', media: [{ mimeType: 'video/mp4', url: Location }] })
    t.equal(other.requests.length, 0)
  })
  await t.test('one in a circle ends', async t => {
    const Location = download.slice(4)
    const { provider } = await given(t, finished(redirect(Location)))
    await t.rejects(provider.poll(accepted, never), { message: 'Google redirects a download in a circle' })
  })
})

t.test('polls', async t => {
  const working = { kind: 'working', pollAfterMs: 10_000 }
  const noVideo = { kind: 'failed', code: 'provider_error', message: 'The provider returned no video.' }
  const failedWith = (code: number, message: string) => ({ name: videoOperation, done: true, error: { code, message } })
  const cases: [string, unknown, object][] = [
    ['still working', { name: videoOperation, metadata: {} }, working],
    ['an unknown state', { name: videoOperation, done: 'perhaps?', state: 'NEW' }, working],
    ['null', null, working],
    ['an end without a result', { name: videoOperation, done: true }, noVideo],
    ['an answer of another shape', { hello: 1 }, working],
    [
      'a film in the answer',
      videoDone({
        generatedSamples: [
          { video: { encodedVideo: Buffer.from('a film').toString('base64'), encoding: 'video/webm' } },
        ],
      }),
      { kind: 'done', media: [{ mimeType: 'video/webm', bytes: Buffer.from('a film') }] },
    ],
    [
      'a film elsewhere',
      videoDone({ generatedSamples: [{ video: { uri: 'https://storage.example.com/bucket/v1/files/film' } }] }),
      { kind: 'done', media: [{ mimeType: 'video/mp4', url: 'https://storage.example.com/bucket/v1/files/film' }] },
    ],
    ['an address of no use', videoDone({ generatedSamples: [{ video: { uri: 'file:///etc/passwd' } }] }), noVideo],
    ['a film that was filtered', videoDone({ raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['…'] }), rejected],
    ['a filter without a reason', videoDone({ raiMediaFilteredCount: 1 }), rejected],
    ['a filter without a count', videoDone({ raiMediaFilteredReasons: ['Violates …'] }), rejected],
    ['no film', videoDone({ generatedSamples: [] }), noVideo],
    ['odd samples', videoDone({ generatedSamples: [{ video: { uri: 7 } }] }), noVideo],
    [
      'forbidden words',
      failedWith(3, "This prompt contains sensitive words that violate Google's Responsible AI practices."),
      rejected,
    ],
    ['a fault of the provider', failedWith(13, 'Video generation failed due to an internal server issue.'), undone],
    ['cancelled at the provider', failedWith(1, 'The operation was cancelled.'), undone],
    ['aborted at the provider', failedWith(10, 'The operation was aborted.'), undone],
    ['an error without words', { name: videoOperation, error: {} }, undone],
  ]
  for (const [name, answer, outcome] of cases)
    await t.test(name, async t => {
      const { provider, server } = await given(t, always(answer))
      t.same(await provider.poll(accepted, never), outcome)
      t.equal(server.requests.length, 1)
    })
})

t.test('a job or a film that is gone ends the job', async t => {
  const gone = googleError(404, 'NOT_FOUND', 'Requested entity was not found.')
  const cases: [string, Handler][] = [
    ['the job', always(gone, 404)],
    ['the film', finished(always(gone, 404))],
  ]
  for (const [name, handler] of cases)
    await t.test(name, async t => {
      const { provider } = await given(t, handler)
      t.same(await provider.poll(accepted, never), undone)
    })
})

t.test('a failed poll is made again later', async t => {
  const cases: [string, Handler, RegExp][] = [
    ['401', always(googleError(401, 'UNAUTHENTICATED', 'no'), 401), /^Google answered with 401$/],
    ['402', always(googleError(402, 'X', 'pay'), 402), /^Google answered with 402$/],
    ['429', always(googleError(429, 'RESOURCE_EXHAUSTED', 'slow'), 429), /^Google answered with 429$/],
    ['500', always(googleError(500, 'INTERNAL', 'oh'), 500), /^Google answered with 500$/],
    ['503', always('<html>', 503), /^Google answered with 503$/],
    ['a cut connection', (_request, response) => response.destroy(), /^Google did not answer: /],
    ['a cut answer', cutAnswer, /^(the answer of Google could not be read$|Google did not answer: )/],
    ['no JSON', always('<html>'), /^the answer of Google is not JSON$/],
    ['503 for the film', finished(always('', 503)), /^Google answered with 503$/],
    ['a cut film', finished(cutAnswer), /^(the answer of Google could not be read$|Google did not answer: )/],
  ]
  for (const [name, handler, message] of cases)
    await t.test(name, async t => {
      const { provider } = await given(t, handler)
      await t.rejects(provider.poll(accepted, never), { message })
    })
})

t.test('a hanging poll or download ends with the signal', async t => {
  const hang: Handler = () => undefined
  for (const handler of [hang, finished(hang)]) {
    const { provider, server } = await given(t, handler)
    await endsWithSignal(t, server, stop => provider.poll(accepted, stop), handler === hang ? 1 : 2)
  }
})

t.test('a film cannot be cancelled', async t => {
  const { provider, server } = await given(t, always({}))
  await provider.cancel(accepted, never)
  t.equal(server.requests.length, 0)
})
