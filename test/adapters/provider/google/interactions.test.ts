import t from 'tap'
import { googleError, interaction } from '../../../support/vendors/google.ts'
import { endsWithSignal } from '../../../support/vendors/hang.ts'
import { acceptedJob, vendorJob } from '../../../support/vendors/vendor-job.ts'
import { picture, pictureBytes } from '../../../support/vendors/vendor-parts.ts'
import { type Handler, reply } from '../../../support/vendors/vendor-server.ts'
import { arrivals, bodyOf, cutAnswer, given, never, rejected, unavailable, undone } from './support.ts'

const model = 'lyria-3.5'
const jobFor = (parameters: Record<string, unknown> = {}) =>
  vendorJob({ model, operation: 'interactions', parameters: { input: 'A quiet guitar', ...parameters } })
const { id } = interaction('queued')
const accepted = acceptedJob(jobFor({ background: true }), id)
const create = 'POST /v1beta/interactions'

const audio = { type: 'audio', mime_type: 'audio/mpeg', data: Buffer.from('a song').toString('base64') }
const song = interaction('completed', [{ type: 'text', text: '[Verse] La' }, audio])
const work = {
  version: model,
  units: { total_input_tokens: 12, total_output_tokens: 30, 'output_tokens_by_modality.audio': 30 },
}
const done = {
  kind: 'done',
  media: [{ mimeType: 'audio/mpeg', bytes: Buffer.from('a song') }],
  text: '[Verse] La',
  work,
}

/** https://ai.google.dev/gemini-api/docs/api-errors */
const failure = (code: string) => ({ error: { code, message: 'No.' } })

const always =
  (answer: unknown, status = 200): Handler =>
  (_request, response) =>
    reply(response, status, answer)

t.test('music is made at once', async t => {
  const { provider, server } = await given(t, always(song))
  t.same(await provider.submit(jobFor({ image: picture, store: false }), never), done)
  t.same(arrivals(server), [create])
  t.same(bodyOf(server), {
    model,
    input: [
      { type: 'image', mime_type: 'image/png', data: pictureBytes.toString('base64') },
      { type: 'text', text: 'A quiet guitar' },
    ],
    store: false,
    stream: false,
  })
})

t.test('music is made in the background', async t => {
  const { provider, server } = await given(t, (request, response) =>
    reply(response, 200, request.method === 'POST' ? interaction('queued') : song),
  )
  t.same(await provider.submit(jobFor({ background: true }), never), {
    kind: 'submitted',
    jobId: id,
    pollAfterMs: 10_000,
  })
  t.same(bodyOf(server), { model, input: 'A quiet guitar', background: true, stream: false })
  t.same(await provider.poll(accepted, never), done)
  t.same(arrivals(server), [create, `GET /v1beta/interactions/${id}?stream=false`])
})

t.test('polls', async t => {
  const working = { kind: 'working', pollAfterMs: 10_000 }
  const file = (uri: string) => interaction('completed', [{ type: 'video', uri }])
  const cases: [string, unknown, object][] = [
    ['queued', interaction('queued'), working],
    ['in_progress', interaction('in_progress'), working],
    ['an unknown state', interaction('dreaming'), working],
    ['an answer of another shape', { hello: 1 }, working],
    ['incomplete, with a song', interaction('incomplete', [audio]), { ...done, text: undefined }],
    ['completed without a song', interaction('completed', [{ type: 'text', text: 'La' }]), { ...undone, work }],
    [
      'a film elsewhere',
      file('https://storage.example.com/film.mp4'),
      { kind: 'done', media: [{ mimeType: 'video/mp4', url: 'https://storage.example.com/film.mp4' }], work },
    ],
    ...['failed', 'cancelled', 'incomplete', 'budget_exceeded', 'requires_action', 'aborted', 'expired'].map(
      (status): [string, unknown, object] => [status, interaction(status), { ...undone, work }],
    ),
    [
      'failed because of the content',
      interaction('failed', [], { errors: [{ code: 'x', message: 'The prompt violates our usage guidelines.' }] }),
      { ...rejected, work },
    ],
    [
      'failed because of the content, by its code',
      interaction('failed', [], { errors: [{ code: 'prohibited_content', message: 'No.' }] }),
      { ...rejected, work },
    ],
    [
      'failed in a step, because of the content',
      interaction('failed', [], {
        steps: [{ type: 'model_output', error: { code: 3, message: 'The song was blocked by the safety filter.' } }],
      }),
      { ...rejected, work },
    ],
    [
      'odd steps',
      interaction('completed', [], { steps: [{ type: 'model_output', content: [3, { type: 'audio' }] }] }),
      undone,
    ],
  ]
  for (const [name, answer, outcome] of cases)
    await t.test(name, async t => {
      const { provider, server } = await given(t, always(answer))
      t.match(await provider.poll(accepted, never), outcome)
      t.equal(server.requests.length, 1)
    })
  await t.test('one that is gone', async t => {
    const { provider } = await given(t, always(googleError(404, 'NOT_FOUND', 'gone'), 404))
    t.same(await provider.poll(accepted, never), undone)
  })
  for (const status of [401, 402, 429, 500, 503])
    await t.test(`${status}`, async t => {
      const { provider, server } = await given(t, always(googleError(status, 'X', 'x'), status))
      await t.rejects(provider.poll(accepted, never), { message: `Google answered with ${status}` })
      t.equal(server.requests.length, 1)
    })
})

t.test('the client, which would try again, makes one request', async t => {
  const cases: [string, Handler, object][] = [
    ['429', always(googleError(429, 'RESOURCE_EXHAUSTED', 'slow'), 429), { fault: { kind: 'rate_limited' } }],
    ['503', always('<html>', 503), { fault: { kind: 'overloaded' } }],
    ['a quota', always(failure('quota_exceeded'), 429), { fault: { kind: 'out_of_quota' } }],
    ['no credit', always(failure('payment_required'), 402), { fault: { kind: 'out_of_quota' } }],
    ['a clash', always(failure('aborted'), 409), { fault: { kind: 'overloaded' } }],
    ['an account', always(failure('failed_precondition'), 400), { fault: { kind: 'unauthorized' } }],
    ['forbidden content', always(failure('safety'), 400), rejected],
  ]
  for (const [name, handler, outcome] of cases)
    await t.test(name, async t => {
      const { provider, server } = await given(t, handler)
      t.match(await provider.submit(jobFor(), never), 'code' in outcome ? outcome : { ...unavailable, ...outcome })
      t.same(arrivals(server), [create])
    })
  const unknown: [string, Handler, RegExp][] = [
    ['502', always('<html>', 502), /^Google answered with 502$/],
    ['a cut connection', (_request, response) => response.destroy(), /^Google did not answer: /],
    ['a cut answer', cutAnswer, /^(the answer of Google could not be read$|Google did not answer: )/],
    ['no JSON', always('<html>'), /^the answer of Google (could not be read|is not JSON)$/],
    ['JSON of another shape', always({ hello: 1 }), /^Google accepted a job without giving its ID$/],
  ]
  for (const [name, handler, message] of unknown)
    await t.test(name, async t => {
      const { provider, server } = await given(t, handler)
      await t.rejects(provider.submit(jobFor(), never), { message })
      t.same(arrivals(server), [create])
    })
})

t.test('a hanging poll or cancellation ends with the signal', async t => {
  const { provider, server } = await given(t, () => undefined)
  await endsWithSignal(t, server, stop => provider.poll(accepted, stop))
  await endsWithSignal(t, server, stop => provider.cancel(accepted, stop))
})

t.test('an unfinished song is not continued by further requests', async t => {
  const { provider, server } = await given(
    t,
    always(interaction('requires_continuation', [audio], { continuation_token: 'abc' })),
  )
  t.match(await provider.submit(jobFor(), never), { kind: 'done' })
  t.same(arrivals(server), [create])
})

t.test('a job is cancelled', async t => {
  const { provider, server } = await given(t, always(interaction('cancelled')))
  await provider.cancel(accepted, never)
  t.same(arrivals(server), [`POST /v1beta/interactions/${id}/cancel`])
})
