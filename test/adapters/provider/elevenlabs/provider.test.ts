import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import { createElevenLabsProvider } from '../../../../src/adapters/provider/elevenlabs/provider.ts'
import { until, withDeadline } from '../../../support/until.ts'
import { errorBody, KEY, SOUND, startElevenLabs, VOICE } from '../../../support/vendors/elevenlabs.ts'
import { vendorDependencies, vendorJob } from '../../../support/vendors/jobs.ts'
import { misbehave, reply } from '../../../support/vendors/vendor-server.ts'

const { signal } = new AbortController()

const speech = { voice_id: VOICE, text: 'The ferry leaves.', output_format: 'opus_48000_128' }

const open = async (t: Test) => {
  const server = await startElevenLabs(t)
  const provider = createElevenLabsProvider(vendorDependencies(t, KEY, server.url))
  const submit = (parameters: object = speech, operation = 'text-to-speech', model = 'eleven_v3', stop = signal) =>
    provider.submit(vendorJob(operation, { ...parameters }, model), stop)
  return { server, provider, submit }
}

const bytes = Uint8Array.from(SOUND)
const work = { units: { 'character-cost': 29 } }

t.test('speech comes back as bytes, with its cost in credits', async t => {
  const { server, submit } = await open(t)
  const body = {
    text: speech.text,
    ...{ language_code: 'en', seed: 23, apply_text_normalization: 'on' },
    voice_settings: { stability: 0.5 },
  }
  t.same(await submit({ ...speech, ...body }), { kind: 'done', media: [{ mimeType: 'audio/ogg', bytes }], work })
  const [{ method = '', path = '', headers = {}, body: sent = Buffer.of() } = {}] = server.requests
  t.same([method, path], ['POST', `/v1/text-to-speech/${VOICE}?output_format=opus_48000_128`])
  t.match(headers, { 'xi-api-key': KEY, 'content-type': 'application/json' })
  t.same(JSON.parse(sent.toString()), { model_id: 'eleven_v3', ...body })
})

t.test('music comes back as bytes', async t => {
  const { server, submit } = await open(t)
  const body = { prompt: 'slow piano', music_length_ms: 30_000, force_instrumental: true, seed: 1 }
  const answer = await submit({ ...body, output_format: 'mp3_44100_128' }, 'music', 'music_v2')
  t.same(answer, { kind: 'done', media: [{ mimeType: 'audio/mpeg', bytes }], work })
  const [{ path = '', body: sent = Buffer.of() } = {}] = server.requests
  t.equal(path, '/v1/music?output_format=mp3_44100_128')
  t.same(JSON.parse(sent.toString()), { model_id: 'music_v2', ...body })
})

t.test('the type follows the format', async t => {
  const { submit } = await open(t)
  const types: [string | undefined, string][] = [
    [undefined, 'audio/mpeg'],
    ['mp3_22050_32', 'audio/mpeg'],
    ['opus_48000_32', 'audio/ogg'],
    ['wav_44100', 'audio/wav'],
    ['pcm_16000', 'audio/pcm'],
    ['ulaw_8000', 'audio/basic'],
  ]
  for (const [format, mimeType] of types) {
    const { output_format: _, ...rest } = speech
    t.match(await submit({ ...rest, ...(format && { output_format: format }) }), { media: [{ mimeType }] }, mimeType)
  }
})

t.test('an answer that is no sound is a failure, whose cost is known', async t => {
  const { server, submit } = await open(t)
  const failed = { kind: 'failed', code: 'provider_error', message: 'The provider returned no sound.' }
  server.answer = response => reply(response, 200, '<html>', { 'character-cost': '3' })
  t.same(await submit(), { ...failed, work: { units: { 'character-cost': 3 } } })
  server.answer = response => reply(response, 200, { audio: 'none' }, { 'character-cost': 'many' })
  t.same(await submit(), failed)
  server.answer = response => response.writeHead(200, { 'Content-Type': 'audio/mpeg' }).end()
  t.same(await submit(), failed)
})

t.test('what has no address is not sent', async t => {
  const { server, submit } = await open(t)
  for (const voice of [undefined, '', '..', 'a/b', 7])
    await t.rejects(submit({ ...speech, voice_id: voice }), /no ElevenLabs ID/)
  await t.rejects(submit(speech, 'dubbing'), /no operation dubbing/)
  t.same(server.requests, [])
})

const unavailable = (kind: string, retryAfterMs?: number) => ({
  ...{ kind: 'failed', code: 'provider_error', message: 'The provider is not available now.', retryable: true },
  fault: { kind, ...(retryAfterMs !== undefined && { retryAfterMs }) },
})
const rejected = {
  kind: 'failed',
  code: 'content_rejected',
  message: 'The content policy of the provider forbids this.',
}
const invalid = (words: string) => ({
  kind: 'failed',
  code: 'invalid_input',
  message: `The provider does not accept this input${words}`,
})

const cases: { name: string; status: number; body: unknown; headers?: Record<string, string>; expected: object }[] = [
  {
    name: 'forbidden music',
    status: 400,
    // https://github.com/receptron/mulmocast-app/issues/1410
    body: { detail: { status: 'bad_prompt', message: 'Your prompt appears to …', data: { prompt_suggestion: 'A' } } },
    expected: rejected,
  },
  {
    name: 'forbidden text',
    status: 400,
    body: { detail: { status: 'invalid', message: 'This was found to violate our Terms of Service.' } },
    expected: rejected,
  },
  {
    name: 'too long a text',
    status: 400,
    // https://help.elevenlabs.io/hc/en-us/articles/19572237925521
    body: { detail: { status: 'max_character_limit_exceeded', message: `Too long for ${KEY}.` } },
    expected: invalid(': Too long for ….'),
  },
  {
    name: 'a wrong shape',
    status: 422,
    body: { detail: [{ loc: ['body', 'text'], msg: 'Field required', type: 'missing' }, {}, null, { msg: 'Too bad' }] },
    expected: invalid(': text: Field required; Too bad'),
  },
  { name: 'words only', status: 400, body: { detail: 'No.' }, expected: invalid(': No.') },
  { name: 'no words', status: 400, body: '<html>', expected: invalid('.') },
  {
    name: 'a refused key',
    status: 401,
    body: errorBody('authentication_error', 'invalid_api_key', `Invalid API key ${KEY}`),
    expected: unavailable('unauthorized'),
  },
  {
    name: 'no quota',
    status: 401,
    // https://github.com/home-assistant/core/issues/160414
    body: { detail: { status: 'quota_exceeded', message: 'This request exceeds your quota of 10000.' } },
    expected: unavailable('out_of_quota'),
  },
  {
    name: 'no credits',
    status: 402,
    body: errorBody('payment_required', 'insufficient_credits', 'Not enough credits.'),
    expected: unavailable('out_of_quota'),
  },
  {
    name: 'a format that the plan does not have',
    status: 403,
    body: errorBody('authorization_error', 'subscription_required', 'A paid subscription is required.'),
    expected: unavailable('gone'),
  },
  {
    name: 'a forbidden key',
    status: 403,
    body: errorBody('authorization_error', 'insufficient_permissions', 'You do not have permission.'),
    expected: unavailable('unauthorized'),
  },
  {
    name: 'a voice that is gone',
    status: 404,
    body: errorBody('not_found', 'voice_not_found', 'A voice was not found.'),
    expected: unavailable('gone'),
  },
  {
    name: 'too many requests at a time',
    status: 429,
    // https://github.com/haguro/elevenlabs-go/pull/25
    body: { detail: { status: 'too_many_concurrent_requests', message: 'Too many concurrent requests.' } },
    headers: { 'current-concurrent-requests': '5', 'maximum-concurrent-requests': '5' },
    expected: unavailable('rate_limited'),
  },
  {
    name: 'too many requests, with a time',
    status: 429,
    body: errorBody('rate_limit_error', 'rate_limit_exceeded', 'Too many requests.'),
    headers: { 'Retry-After': '3' },
    expected: unavailable('rate_limited', 3000),
  },
  {
    name: 'a busy system',
    status: 429,
    body: errorBody('rate_limit_error', 'system_busy', 'The system is busy.'),
    expected: unavailable('overloaded'),
  },
  { name: 'an error', status: 500, body: 'Internal Server Error', expected: unavailable('overloaded') },
  {
    name: 'maintenance',
    status: 503,
    body: errorBody('service_unavailable', 'maintenance', 'Later.'),
    expected: unavailable('overloaded'),
  },
  { name: 'overload, as others say it', status: 529, body: '', expected: unavailable('overloaded') },
]

t.test('each refusal has its meaning, after one request', async t => {
  const { server, submit } = await open(t)
  for (const { name, expected, ...fault } of cases) {
    server.answer = response => misbehave(response, fault)
    t.same(await submit(), { ...expected, status: fault.status }, name)
  }
  t.equal(server.requests.length, cases.length)
})

t.test('without an answer that tells, nobody knows, and there was one request', async t => {
  const { server, submit } = await open(t)
  for (const status of [408, 502, 504]) {
    server.answer = response => reply(response, status, { detail: KEY })
    await t.rejects(submit(), { message: `ElevenLabs answered with ${status}` })
  }
  server.answer = response => response.destroy()
  await t.rejects(submit(), /fetch failed|did not answer/)
  server.answer = response =>
    response.writeHead(200, { 'Content-Type': 'audio/mpeg' }).write('Ogg', () => response.destroy())
  await t.rejects(submit(), /could not be read|terminated|did not answer/)
  t.equal(server.requests.length, 5)
})

t.test('a call ends when nobody waits for it', async t => {
  const { server, submit } = await open(t)
  const stop = new AbortController()
  server.answer = response => misbehave(response, 'hang')
  const answer = submit(speech, 'text-to-speech', 'eleven_v3', stop.signal)
  answer.catch(() => undefined)
  await until('the request has arrived', () => server.requests.length === 1)
  stop.abort()
  await t.rejects(withDeadline('the call has ended', answer), /abort/i)
  t.equal(server.requests.length, 1)
})

t.test('a server that is not there has accepted nothing', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  await until('it listens', () => server.listening)
  const { port } = server.address() as { port: number }
  await new Promise(done => server.close(done))
  const provider = createElevenLabsProvider(vendorDependencies(t, KEY, `http://127.0.0.1:${port}`))
  t.same(await provider.submit(vendorJob('text-to-speech', speech), signal), unavailable('unreachable'))
})

t.test('a check lists the models, and says what to look at if it fails', async t => {
  const { server, provider } = await open(t)
  const fault = async () =>
    String(
      await provider.check?.(signal).then(
        () => 'none',
        error => error.message,
      ),
    )
  t.equal(await fault(), 'none')
  t.equal(server.requests[0]?.path, '/v1/models')
  const { detail } = errorBody('authentication_error', 'invalid_api_key', `Invalid API key ${KEY}`)
  server.answer = response => reply(response, 401, { detail })
  t.equal(
    await fault(),
    'ElevenLabs refuses the key; check ELEVENLABS_API_KEY (ElevenLabs answered with 401: Invalid API key …)',
  )
  server.answer = response => reply(response, 200, { models: [] })
  t.match(await fault(), /check ELEVENLABS_BASE_URL/)
})

t.test('a key that no header can hold is refused at once, without being shown', async t => {
  const make = () => createElevenLabsProvider(vendorDependencies(t, 'xi-secret\u2028', 'http://127.0.0.1'))
  t.throws(make, { message: /^ELEVENLABS_API_KEY holds a character that is not allowed in a key; / })
})
