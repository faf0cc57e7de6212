import t from 'tap'
import { createGoogleProvider } from '../../../../src/adapters/provider/google/provider.ts'
import {
  exhausted,
  generated,
  googleError,
  googleKey,
  videoOperation,
  wrongKey,
} from '../../../support/vendors/google.ts'
import { vendorJob } from '../../../support/vendors/vendor-job.ts'
import { deadAddress, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'
import { type Handler, reply } from '../../../support/vendors/vendor-server.ts'
import { arrivals, cutAnswer, given, never, rejected, unavailable } from './support.ts'

/** One job for each operation. */
const jobs = {
  text: vendorJob({ model: 'gemini-3-flash', operation: 'generateContent.text', parameters: { contents: 'Why?' } }),
  image: vendorJob({ model: 'gemini-x', operation: 'generateContent.image', parameters: { contents: 'A cat' } }),
  video: vendorJob({ model: 'veo-3.1', operation: 'generateVideos', parameters: { prompt: 'A cat' } }),
  music: vendorJob({ model: 'lyria-3.5', operation: 'interactions', parameters: { input: 'A quiet guitar' } }),
}

const always =
  (answer: unknown, status = 200, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    reply(response, status, answer, headers)

t.test('errors', async t => {
  const fault = (kind: string, retryAfterMs?: number) => ({
    ...unavailable,
    fault: { kind, ...(retryAfterMs !== undefined && { retryAfterMs }) },
  })
  const invalid = (words: string) => ({
    kind: 'failed',
    code: 'invalid_input',
    message: `The provider does not accept this input${words}`,
  })
  const perDay = 'GenerateRequestsPerDayPerProjectPerModel'
  const perMinute = 'GenerateRequestsPerMinutePerProjectPerModel'
  const refused = (status: string, message: string) => googleError(400, status, message)
  const cases: [string, number, unknown, Record<string, string>, object][] = [
    ['a wrong key', 400, wrongKey, {}, fault('unauthorized')],
    [
      'a wrong key, as data',
      400,
      googleError(400, 'INVALID_ARGUMENT', 'No.', [{ reason: 'API_KEY_INVALID' }]),
      {},
      fault('unauthorized'),
    ],
    [
      'a wrong key, in words',
      400,
      refused('INVALID_ARGUMENT', 'API key expired. Please renew the API key.'),
      {},
      fault('unauthorized'),
    ],
    [
      'a location',
      400,
      refused('FAILED_PRECONDITION', 'User location is not supported for the API use.'),
      {},
      fault('unauthorized'),
    ],
    [
      'a plan',
      400,
      refused('FAILED_PRECONDITION', 'Gemini API free tier is not available in your country. Please enable billing.'),
      {},
      fault('out_of_quota'),
    ],
    [
      'an input',
      400,
      refused('INVALID_ARGUMENT', `\`seed\` isn't supported by ${googleKey}, see https://ai.google.dev/x`),
      {},
      invalid(": `seed` isn't supported by …, see …"),
    ],
    ['an input in a list', 400, [refused('INVALID_ARGUMENT', 'No.')], {}, invalid(': No.')],
    [
      'forbidden content',
      400,
      refused('INVALID_ARGUMENT', "The prompt contains words that violate Google's Responsible AI practices."),
      {},
      rejected,
    ],
    ['401', 401, googleError(401, 'UNAUTHENTICATED', 'x'), {}, fault('unauthorized')],
    ['402', 402, googleError(402, 'X', 'x'), {}, fault('out_of_quota')],
    [
      '403',
      403,
      googleError(403, 'PERMISSION_DENIED', 'Your API key was reported as leaked.'),
      {},
      fault('unauthorized'),
    ],
    [
      'a model that is gone',
      404,
      googleError(404, 'NOT_FOUND', 'models/x is not found'),
      {},
      { ...unavailable, fault: { kind: 'gone' } },
    ],
    ['a rate', 429, exhausted([perMinute], '39.5s'), {}, fault('rate_limited', 39_500)],
    ['a rate, with a header', 429, exhausted([perMinute], '39s'), { 'retry-after': '5' }, fault('rate_limited', 5000)],
    ['a rate without more', 429, googleError(429, 'RESOURCE_EXHAUSTED', 'Slow.'), {}, fault('rate_limited')],
    ['a quota of a day', 429, exhausted([perMinute, `${perDay}-FreeTier`]), {}, fault('out_of_quota')],
    [
      'a plan without the model',
      429,
      exhausted([perMinute], undefined, 'Quota exceeded, limit: 0, model: x'),
      {},
      fault('out_of_quota'),
    ],
    ['no credit', 429, exhausted([], undefined, 'Your prepayment credits are depleted.'), {}, fault('out_of_quota')],
    [
      'odd details',
      429,
      googleError(429, 'RESOURCE_EXHAUSTED', 'x', [null, { violations: [null], retryDelay: 7 }]),
      {},
      fault('rate_limited'),
    ],
    ['500', 500, googleError(500, 'INTERNAL', 'x'), {}, fault('overloaded')],
    ['503', 503, googleError(503, 'UNAVAILABLE', 'x'), {}, fault('overloaded')],
    ['529 of a proxy', 529, '<html>', {}, fault('overloaded')],
    ['400 without words', 400, null, {}, invalid('.')],
    ['400 of another shape', 400, { error: 'no' }, {}, invalid('.')],
  ]
  for (const [operation, job] of Object.entries(jobs))
    for (const [name, status, body, headers, outcome] of cases)
      await t.test(`${operation}: ${name}`, async t => {
        const { provider, server } = await given(t, always(body, status, headers))
        t.same(await provider.submit(job, never), { ...outcome, status })
        t.equal(server.requests.length, 1)
      })
})

t.test('nobody knows what became of the request', async t => {
  const cases: [string, Handler, RegExp][] = [
    ['502', always('<html>', 502), /^Google answered with 502$/],
    ['504', always(googleError(504, 'DEADLINE_EXCEEDED', 'late'), 504), /^Google answered with 504$/],
    ['499', always(googleError(499, 'CANCELLED', 'The operation was cancelled.'), 499), /^Google answered with 499$/],
    ['a cut connection', (_request, response) => response.destroy(), /^Google did not answer: /],
    ['a cut answer', cutAnswer, /^(the answer of Google could not be read$|Google did not answer: )/],
    ['no JSON', always('<html>secret'), /^the answer of Google (is not JSON|could not be read)$/],
    ['null', always(null), /^(the answer of Google could not be read|Google accepted a job without giving its ID)$/],
  ]
  for (const [operation, job] of Object.entries(jobs)) {
    for (const [name, handler, message] of cases)
      await t.test(`${operation}: ${name}`, async t => {
        const { provider, server } = await given(t, handler)
        await t.rejects(provider.submit(job, never), { message })
        t.equal(server.requests.length, 1)
      })
    await t.test(`${operation}: a hang`, async t => {
      const stop = new AbortController()
      const { provider, server } = await given(t, () => stop.abort())
      await t.rejects(provider.submit(job, stop.signal))
      t.equal(server.requests.length, 1)
    })
    await t.test(`${operation}: nobody listens, so nothing was accepted`, async t => {
      const provider = createGoogleProvider(vendorDependencies(t, await deadAddress(), googleKey))
      t.same(await provider.submit(job, never), { ...unavailable, fault: { kind: 'unreachable' } })
    })
  }
})

t.test('a file that is unusable is not sent', async t => {
  const { provider, server } = await given(t, always({}))
  const { upstream } = jobs.image
  const parameters = { ...upstream.parameters, image: { fileUrl: 'https://example.com/page' } }
  t.same(await provider.submit({ ...jobs.image, upstream: { ...upstream, parameters } }, never), {
    kind: 'failed',
    code: 'invalid_input',
    message: 'image_url: The address returned text/html.',
  })
  t.equal(server.requests.length, 0)
})

t.test('a key that no header can hold is not shown', async t => {
  const make = () => createGoogleProvider(vendorDependencies(t, 'http://127.0.0.1:1', 'secret\nkey'))
  t.throws(make, { message: /^GOOGLE_API_KEY holds a character that is not allowed in a key; / })
})

t.test('another operation does not exist', async t => {
  const { provider } = await given(t, always({}))
  const job = vendorJob({ model: 'imagen-4', operation: 'generateImages', parameters: {} })
  await t.rejects(provider.submit(job, never), { message: 'Google has no operation generateImages' })
})

t.test('the environment changes nothing', async t => {
  const before = { ...process.env }
  Object.assign(process.env, {
    GOOGLE_API_KEY: 'AIza-other',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1',
    GOOGLE_GENAI_USE_VERTEXAI: 'true',
    GOOGLE_GENAI_USE_ENTERPRISE: 'true',
    GOOGLE_CLOUD_PROJECT: 'other',
    GOOGLE_CLOUD_LOCATION: 'europe-west4',
  })
  t.teardown(() => {
    process.env = before
  })
  const { provider, server } = await given(t, (request, response) =>
    reply(response, 200, request.path.includes('Long') ? { name: videoOperation } : generated([{ text: 'Because.' }])),
  )
  t.match(await provider.submit(jobs.text, never), { kind: 'done', text: 'Because.' })
  t.match(await provider.submit(jobs.video, never), { kind: 'submitted' })
  t.same(arrivals(server), [
    'POST /v1beta/models/gemini-3-flash:generateContent',
    'POST /v1beta/models/veo-3.1:predictLongRunning',
  ])
})

t.test('the account is checked without cost', async t => {
  const { provider, server } = await given(t, always({ models: [{ name: 'models/gemini-3-flash' }] }))
  await provider.check(never)
  t.same(arrivals(server), ['GET /v1beta/models?pageSize=1'])
})

t.test('a check says what to do', async t => {
  const cases: [string, Handler, string | RegExp][] = [
    [
      'a wrong key',
      always(googleError(400, 'INVALID_ARGUMENT', `API key not valid: ${googleKey}`), 400),
      'Google refuses the key; check GOOGLE_API_KEY (Google answered with 400: API key not valid: …)',
    ],
    [
      'no credit',
      always(exhausted([], undefined, 'Your prepayment credits are depleted.'), 429),
      /^the account at Google has no credit or quota left; look at its billing page/,
    ],
    ['a rate', always(exhausted([]), 429), /^Google accepts no more requests at the moment; try again later/],
    ['503', always('', 503), 'Google is overloaded or down; try again later (Google answered with 503)'],
    ['no JSON', always('<html>'), 'Google gives unexpected responses; try again, and check GOOGLE_BASE_URL'],
    ['no models', always({}), 'Google gives unexpected responses; try again, and check GOOGLE_BASE_URL'],
  ]
  for (const [name, handler, message] of cases)
    await t.test(name, async t => {
      const { provider } = await given(t, handler)
      await t.rejects(provider.check(never), { message })
    })
  await t.test('nobody listens', async t => {
    const provider = createGoogleProvider(vendorDependencies(t, await deadAddress(), googleKey))
    const message = 'Google cannot be reached; check the network and GOOGLE_BASE_URL'
    await t.rejects(async () => provider.check?.(never), { message })
  })
})
