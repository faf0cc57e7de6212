import t from 'tap'
import { endsWithSignal } from '../../../support/vendors/hang.ts'
import { PICTURE, PICTURE_URL, vendorJobById } from '../../../support/vendors/jobs.ts'
import { errorBody, FILM, queued } from '../../../support/vendors/openai.ts'
import { reply } from '../../../support/vendors/vendor-server.ts'
import { open } from './support.ts'

t.test('a video is submitted with one request, which returns its id', async t => {
  const { server, submit } = await open(t)
  const parameters = { prompt: 'a lake', seconds: '8', size: '1280x720' }
  const answer = await submit('videos', { ...parameters, input_reference: { fileUrl: PICTURE_URL } })
  t.same(answer, { kind: 'submitted', jobId: 'video_1', pollAfterMs: 5000 })
  const sent = { name: 'file.png', type: 'image/png', bytes: PICTURE }
  t.same(server.bodies, [{ ...parameters, input_reference: sent, model: 'gpt-x' }])
  t.equal(server.requests.length, 1)
})

t.test('an answer without a usable id is no job', async t => {
  const { server, submit } = await open(t)
  for (const id of [undefined, '', 7, 'v'.repeat(256), '\ud800']) {
    server.answer = response => reply(response, 200, { ...queued, id })
    await t.rejects(submit('videos', { prompt: 'a lake' }), /has no video ID|could not be read/)
  }
})

t.test('the states of a video', async t => {
  const { server, poll } = await open(t)
  const working = (progress?: number) => ({
    kind: 'working',
    pollAfterMs: 5000,
    ...(progress !== undefined && { progress }),
  })
  const failed = (code: string) => ({ kind: 'failed', code })
  const moderated = { code: 'moderation_blocked', message: 'Your request was blocked by our moderation system.' }
  const cases = [
    { video: { status: 'queued' }, expected: working(0) },
    { video: { status: 'in_progress', progress: 33 }, expected: working(0.33) },
    { video: { status: 'in_progress', progress: 250 }, expected: working(1) },
    { video: { status: 'in_progress', progress: 'half' }, expected: working() },
    { video: { status: 'processing_a_new_way' }, expected: working(0) },
    { video: { status: 'failed', error: moderated }, expected: failed('content_rejected') },
    { video: { status: 'failed', error: { code: 'internal_error' } }, expected: failed('provider_error') },
    { video: { status: 'failed' }, expected: failed('provider_error') },
    { video: { status: 'expired' }, expected: failed('provider_error') },
    { video: { status: 'cancelled' }, expected: failed('cancelled') },
    { video: { status: 'canceled' }, expected: failed('cancelled') },
  ]
  for (const { video, expected } of cases) {
    server.video = video
    const answer = await poll()
    if (expected.kind === 'working') t.same(answer, expected, video.status)
    else t.match(answer, expected, video.status)
  }
})

t.test('a video that is done is downloaded with the key', async t => {
  const { server, poll } = await open(t)
  server.video = { status: 'completed', progress: 100 }
  t.same(await poll(), {
    kind: 'done',
    media: [{ mimeType: 'video/mp4', bytes: Uint8Array.from(FILM) }],
    work: { version: 'sora-x', units: { seconds: 8 } },
  })
  t.same(
    server.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /v1/videos/video_1', 'GET /v1/videos/video_1/content'],
  )
})

t.test('a poll that fails can be repeated, unless the video is gone', async t => {
  const { server, poll } = await open(t)
  for (const status of [401, 402, 429, 500, 502, 503]) {
    server.answer = response => reply(response, status, errorBody('No.', 'server_error'))
    await t.rejects(poll(), new RegExp(`OpenAI answered with ${status}`))
  }
  server.answer = response => response.destroy()
  await t.rejects(poll(), /fetch failed|did not answer/)
  server.answer = response => reply(response, 200, '<html>')
  await t.rejects(poll(), /OpenAI/)
  server.answer = response => reply(response, 404, errorBody('Video not found', 'invalid_request_error'))
  t.match(await poll(), { kind: 'failed', code: 'provider_error' })
})

t.test('a download that fails can be repeated, unless the content is gone', async t => {
  const { server, poll } = await open(t)
  const answerContent = (status: number, body: unknown) => {
    server.answer = (response, { path }) =>
      path.endsWith('/content')
        ? reply(response, status, body)
        : reply(response, 200, { ...queued, status: 'completed' })
  }
  answerContent(503, errorBody('No.', 'server_error'))
  await t.rejects(poll(), /OpenAI answered with 503/)
  answerContent(404, errorBody('No.', 'invalid_request_error'))
  t.match(await poll(), { kind: 'failed', code: 'provider_error' })
  answerContent(200, '<html>')
  t.match(await poll(), { kind: 'failed', code: 'provider_error', message: /no video/ })
})

t.test('a hanging poll, download or cancellation ends with the signal', async t => {
  const { server, provider } = await open(t)
  const job = vendorJobById('video_1', 'videos')
  server.answer = () => undefined
  await endsWithSignal(t, server, stop => provider.poll?.(job, stop))
  await endsWithSignal(t, server, stop => provider.cancel?.(job, stop))
  server.answer = (response, { path }) => {
    if (!path.endsWith('/content')) reply(response, 200, { ...queued, status: 'completed' })
  }
  await endsWithSignal(t, server, stop => provider.poll?.(job, stop), 2)
})

t.test('a video is deleted when its run is cancelled', async t => {
  const { server, cancel } = await open(t)
  await cancel()
  t.same(
    server.requests.map(({ method, path }) => `${method} ${path}`),
    ['DELETE /v1/videos/video_1'],
  )
  server.answer = response => reply(response, 404, errorBody('Video not found', 'invalid_request_error'))
  await cancel()
  server.answer = response => reply(response, 400, errorBody('Video is in progress', 'invalid_request_error'))
  await t.rejects(cancel(), /OpenAI answered with 400/)
})
