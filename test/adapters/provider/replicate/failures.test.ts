import t from 'tap'
import { createReplicateProvider } from '../../../../src/adapters/provider/replicate/provider.ts'
import type { Failed, UpstreamRequest } from '../../../../src/ports/provider.ts'
import { endsWithSignal } from '../../../support/vendors/hang.ts'
import { problemBody, REPLICATE_KEY, startReplicate } from '../../../support/vendors/replicate.ts'
import { accepted, vendorJob } from '../../../support/vendors/vendor-job.ts'
import { deadAddress, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'
import type { Fault } from '../../../support/vendors/vendor-server.ts'

const { signal } = new AbortController()

const picture: UpstreamRequest = {
  model: 'black-forest-labs/flux-schnell',
  operation: 'predictions',
  parameters: { prompt: 'a lighthouse' },
}

const start = async () => {
  const stub = await startReplicate(t)
  return { stub, provider: createReplicateProvider(vendorDependencies(t, stub.url, REPLICATE_KEY)) }
}

const problem = (status: number, title: string, detail: string, headers: Record<string, string> = {}) => ({
  status,
  body: problemBody(status, title, detail),
  headers,
})

const later: Partial<Failed> = { kind: 'failed', code: 'provider_error', retryable: true }

/** E005 of https://replicate.com/docs/reference/error-codes */
const SENSITIVE =
  'The input or output was flagged as sensitive. Please try again with different inputs. (E005) (uIJ6l3ruRD)'

/** https://github.com/nodetool-ai/nodetool/issues/5196 */
const THROTTLED =
  'Request was throttled. Your rate limit for creating predictions is reduced to 6 requests per minute with a burst of 1 requests while you have less than $5.0 in credit. Your rate limit resets in ~10s.'

const refusals: [string, Fault, Partial<Failed>][] = [
  [
    'a bad value',
    problem(422, 'Input validation failed', '- input.num_outputs: Must be less than or equal to 4\n'),
    {
      code: 'invalid_input',
      message: 'The provider does not accept this input: - input.num_outputs: Must be less than or equal to 4',
    },
  ],
  ['content', problem(422, 'Unprocessable', SENSITIVE), { code: 'content_rejected' }],
  ['400', problem(400, 'Bad request', 'no'), { code: 'invalid_input' }],
  [
    'a version that is gone',
    problem(422, 'Invalid version or not permitted', 'It does not exist'),
    { ...later, fault: { kind: 'gone' } },
  ],
  [
    'a model that is gone',
    problem(404, 'Not found', 'The requested resource could not be found.'),
    { ...later, fault: { kind: 'gone' } },
  ],
  [
    '401, which repeats the key',
    problem(401, 'Unauthenticated', `You did not pass a valid token: ${REPLICATE_KEY}`),
    { ...later, fault: { kind: 'unauthorized' } },
  ],
  ['403', problem(403, 'Forbidden', 'no'), { ...later, fault: { kind: 'unauthorized' } }],
  [
    '402',
    problem(
      402,
      'Insufficient credit',
      'You have insufficient credit to run this model. Go to https://replicate.com/account/billing#billing to purchase credit.',
    ),
    { ...later, fault: { kind: 'out_of_quota' } },
  ],
  ['429', problem(429, 'Too many requests', 'no'), { ...later, fault: { kind: 'rate_limited' } }],
  [
    '429 with the wait in its words',
    problem(429, 'Too many requests', THROTTLED),
    { ...later, fault: { kind: 'rate_limited', retryAfterMs: 10_000 } },
  ],
  [
    '429 with the wait in its body',
    { status: 429, body: { detail: THROTTLED, status: 429, retry_after: 5 } },
    { ...later, fault: { kind: 'rate_limited', retryAfterMs: 5_000 } },
  ],
  [
    '429 with the wait in its headers',
    problem(429, 'Too many requests', THROTTLED, { 'Retry-After': '3' }),
    { ...later, fault: { kind: 'rate_limited', retryAfterMs: 3_000 } },
  ],
  ['500', problem(500, 'Internal server error', 'no'), { ...later, fault: { kind: 'overloaded' } }],
  ['503', { status: 503, body: '<h1>busy</h1>' }, { ...later, fault: { kind: 'overloaded' } }],
  ['529', { status: 529, body: 'busy' }, { ...later, fault: { kind: 'overloaded' } }],
]

t.test('a refused submission is one request and no prediction', async t => {
  for (const [name, fault, failed] of refusals) {
    const { stub, provider } = await start()
    stub.fault = fault
    const outcome = await provider.submit(vendorJob(picture), signal)
    t.match(outcome, { kind: 'failed', ...failed }, name)
    t.same((outcome as Failed).fault, failed.fault, name)
    t.equal(stub.requests.length, 1, name)
    t.notMatch(JSON.stringify(outcome), REPLICATE_KEY, name)
  }
})

t.test('rejects when nobody knows whether Replicate accepted the job, after one request', async t => {
  const unknown: [string, Fault, RegExp][] = [
    ['a cut connection', 'cut', /^Replicate did not answer: (UND_ERR_SOCKET|ECONNRESET)$/],
    ['an answer that breaks off', 'break', /could not be read|did not answer/],
    ['502', { status: 502, body: '<h1>Bad gateway</h1>' }, /^Replicate answered with 502$/],
    ['504', problem(504, 'Timeout', 'late'), /^Replicate answered with 504$/],
    ['no JSON', { status: 201, body: '<h1>Hello</h1>' }, /^the answer of Replicate is not JSON$/],
    ['null', { status: 201, body: null }, /^Replicate sent no prediction$/],
    ['another shape', { status: 201, body: { id: 7 } }, /^Replicate sent no prediction$/],
    ['an odd id', { status: 201, body: { id: '../account', status: 'starting' } }, /^Replicate sent no prediction$/],
    ['a long id', { status: 201, body: { id: 'a'.repeat(256), status: 'starting' } }, /^Replicate sent no prediction$/],
  ]
  for (const [name, fault, error] of unknown) {
    const { stub, provider } = await start()
    stub.fault = fault
    await t.rejects(provider.submit(vendorJob(picture), signal), error, name)
    t.equal(stub.requests.length, 1, name)
  }
})

t.test('a hanging submission ends with the signal', async t => {
  const { stub, provider } = await start()
  stub.fault = 'hang'
  await endsWithSignal(t, stub, stop => provider.submit(vendorJob(picture), stop))
})

t.test('a hanging poll or cancellation ends with the signal', async t => {
  const { stub, provider } = await start()
  const job = await accepted(provider, vendorJob(picture))
  stub.fault = 'hang'
  await endsWithSignal(t, stub, stop => provider.poll?.(job, stop))
  await endsWithSignal(t, stub, stop => provider.cancel?.(job, stop))
})

t.test('a provider that cannot be reached has accepted nothing', async t => {
  const provider = createReplicateProvider(vendorDependencies(t, await deadAddress(), REPLICATE_KEY))
  t.match(await provider.submit(vendorJob(picture), signal), { ...later, fault: { kind: 'unreachable' } })
  await t.rejects(Promise.resolve(provider.check?.(signal)), /^Replicate did not answer: ECONNREFUSED; check the/)
})

t.test('an unknown operation is not sent', async t => {
  const { stub, provider } = await start()
  const job = vendorJob({ ...picture, operation: 'trainings' })
  await t.rejects(provider.submit(job, signal), /Replicate has no operation trainings/)
  t.same(stub.requests, [])
})

t.test('a poll that fails says nothing about its prediction', async t => {
  const { stub, provider } = await start()
  const job = await accepted(provider, vendorJob(picture))
  const faults: [Fault, RegExp][] = [
    [problem(401, 'Unauthenticated', 'no'), /^Replicate answered with 401$/],
    [problem(429, 'Too many requests', THROTTLED), /^Replicate answered with 429$/],
    [problem(402, 'Insufficient credit', 'no'), /^Replicate answered with 402$/],
    [problem(500, 'Internal server error', 'no'), /^Replicate answered with 500$/],
    [{ status: 503, body: '<h1>busy</h1>' }, /^Replicate answered with 503$/],
    ['break', /could not be read|did not answer/],
    [{ status: 502, body: '<h1>Bad gateway</h1>' }, /^Replicate answered with 502$/],
    ['cut', /^Replicate did not answer: (UND_ERR_SOCKET|ECONNRESET)$/],
    [{ status: 200, body: '<h1>Hello</h1>' }, /^the answer of Replicate is not JSON$/],
    [{ status: 200, body: [1, 2] }, /^Replicate sent no prediction$/],
  ]
  for (const [fault, error] of faults) {
    const before = stub.requests.length
    stub.fault = fault
    await t.rejects(Promise.resolve(provider.poll?.(job, signal)), error)
    t.equal(stub.requests.length, before + 1)
  }
  stub.fault = undefined
  t.match(await provider.poll?.(job, signal), { kind: 'done' })
  t.match(await provider.poll?.({ ...job, jobId: 'gone' }, signal), { kind: 'failed', code: 'provider_error' })
})

t.test('the ends of predictions', async t => {
  const cases: [object, string][] = [
    [{ status: 'failed', error: SENSITIVE }, 'content_rejected'],
    [
      { status: 'failed', error: 'NSFW content detected. Try running it again, or try a different prompt.' },
      'content_rejected',
    ],
    [{ status: 'failed', error: 'All generated images contained NSFW content' }, 'content_rejected'],
    [{ status: 'failed', error: { message: 'blocked by the safety filter' } }, 'content_rejected'],
    [{ status: 'failed', error: 'CUDA out of memory' }, 'provider_error'],
    [{ status: 'failed', error: 'Prediction interrupted; please retry (code: PA)' }, 'provider_error'],
    [{ status: 'failed', error: null }, 'provider_error'],
    [{ status: 'canceled', error: null }, 'provider_error'],
    [{ status: 'aborted', error: null }, 'provider_error'],
  ]
  const { stub, provider } = await start()
  for (const [state, code] of cases) {
    stub.states = [{ ...state, metrics: { predict_time: 2.5 } }]
    const job = await accepted(provider, vendorJob(picture))
    const outcome = (await provider.poll?.(job, signal)) as Failed
    t.match(outcome, { kind: 'failed', code, work: { units: { predict_time: 2.5 } } }, JSON.stringify(state))
    t.same([outcome.retryable, outcome.fault], [undefined, undefined])
  }
})
