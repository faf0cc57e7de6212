import t from 'tap'
import { openFal } from '../../../../src/adapters/provider/fal/client.ts'
import { createFalProvider } from '../../../../src/adapters/provider/fal/provider.ts'
import type { UpstreamCall } from '../../../../src/adapters/provider/upstream-call.ts'
import type { Failed, UpstreamRequest } from '../../../../src/ports/provider.ts'
import { COMPLETED, FAL_KEY, startFal } from '../../../support/vendors/fal.ts'
import { endsWithSignal } from '../../../support/vendors/hang.ts'
import { accepted, vendorJob } from '../../../support/vendors/vendor-job.ts'
import { deadAddress, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'
import type { Fault } from '../../../support/vendors/vendor-server.ts'

const { signal } = new AbortController()

const picture: UpstreamRequest = {
  model: 'fal-ai/flux-pro/v1.1',
  operation: 'queue',
  parameters: { prompt: 'a lighthouse' },
}

const start = async () => {
  const stub = await startFal(t)
  return { stub, provider: createFalProvider(vendorDependencies(t, stub.url, FAL_KEY)) }
}

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  body,
  headers,
})

/** https://fal.ai/docs/documentation/model-apis/errors */
const issue = (type: string, msg: string, loc = ['body', 'prompt']) => ({ detail: [{ loc, msg, type }] })

/** https://fal.ai/docs/documentation/model-apis/request-errors */
const requestError = (error_type: string, detail: string) => ({ detail, error_type })

const later: Partial<Failed> = { kind: 'failed', code: 'provider_error', retryable: true }

const refusals: [string, Fault, Partial<Failed>][] = [
  [
    'content',
    answer(422, issue('content_policy_violation', 'The content was flagged by a content checker.')),
    { code: 'content_rejected', message: 'The content policy of the provider forbids this.' },
  ],
  [
    'a bad value',
    answer(422, issue('value_error', 'not one of 1:1, 16:9', ['body', 'aspect_ratio'])),
    {
      code: 'invalid_input',
      message: 'The provider does not accept this input: aspect_ratio: not one of 1:1, 16:9',
    },
  ],
  ['400', answer(400, { detail: 'bad' }), { code: 'invalid_input' }],
  [
    'a service behind',
    answer(400, issue('downstream_service_error', 'no')),
    { ...later, fault: { kind: 'overloaded' } },
  ],
  [
    '401, which repeats the key',
    answer(401, { detail: `Authorization token=${FAL_KEY} is invalid.` }),
    { ...later, fault: { kind: 'unauthorized' } },
  ],
  ['402', answer(402, { detail: 'Payment Required' }), { ...later, fault: { kind: 'out_of_quota' } }],
  [
    'an empty balance',
    // https://github.com/fal-ai/fal/issues/1147
    answer(403, {
      detail: 'User is locked. Reason: Exhausted balance. Top up your balance at fal.ai/dashboard/billing.',
    }),
    { ...later, fault: { kind: 'out_of_quota' } },
  ],
  [
    'an empty balance, in its other form',
    // https://github.com/fal-ai/fal/issues/1163
    answer(403, { detail: 'User is locked. Reason: TOP_UP.' }),
    { ...later, fault: { kind: 'out_of_quota' } },
  ],
  ['403', answer(403, { detail: 'Forbidden' }), { ...later, fault: { kind: 'unauthorized' } }],
  [
    'a model that is gone',
    answer(404, { detail: "Application 'flux' not found" }),
    { ...later, fault: { kind: 'gone' } },
  ],
  [
    '429',
    answer(429, requestError('concurrent_requests_limit', 'Concurrent requests limit exceeded')),
    { ...later, fault: { kind: 'rate_limited' } },
  ],
  [
    '429 with a wait',
    answer(429, { detail: 'slow down' }, { 'Retry-After': '7' }),
    { ...later, fault: { kind: 'rate_limited', retryAfterMs: 7_000 } },
  ],
  ['500', answer(500, requestError('internal_error', 'oops')), { ...later, fault: { kind: 'overloaded' } }],
  [
    '503',
    answer(503, requestError('runner_scheduling_failure', 'no runner')),
    { ...later, fault: { kind: 'overloaded' } },
  ],
  ['529', answer(529, '<h1>busy</h1>'), { ...later, fault: { kind: 'overloaded' } }],
]

t.test('a refused submission is one request and no job', async t => {
  for (const [name, fault, failed] of refusals) {
    const { stub, provider } = await start()
    stub.fault = fault
    const outcome = await provider.submit(vendorJob(picture), signal)
    t.match(outcome, { kind: 'failed', ...failed }, name)
    t.same((outcome as Failed).fault, failed.fault, name)
    t.equal(stub.requests.length, 1, name)
    for (const part of FAL_KEY.split(':')) t.notMatch(JSON.stringify(outcome), part, name)
  }
})

t.test('rejects when nobody knows whether fal accepted the job, after one request', async t => {
  const unknown: [string, Fault, RegExp][] = [
    ['a cut connection', 'cut', /^fal did not answer: (UND_ERR_SOCKET|ECONNRESET)$/],
    ['502', answer(502, '<h1>Bad gateway</h1>'), /^fal answered with 502$/],
    ['504', answer(504, requestError('request_timeout', 'late')), /^fal answered with 504$/],
    ['no JSON', answer(200, '<h1>Hello</h1>'), /^fal accepted a job without giving its ID$/],
    [
      'broken JSON',
      answer(200, '{"request_id": ', { 'Content-Type': 'application/json' }),
      /^the answer of fal is not JSON$/,
    ],
    ['null', answer(200, null), /^fal accepted a job without giving its ID$/],
    ['another shape', answer(200, { id: 7 }), /^fal accepted a job without giving its ID$/],
    [
      'a job without an id',
      answer(200, { response_url: 'https://queue.fal.run/fal-ai/flux/requests/' }),
      /^fal accepted a job without giving its ID$/,
    ],
    ['a path that climbs', answer(200, { request_id: '../../billing' }), /^fal accepted a job without giving its ID$/],
    [
      'an id that is too long',
      answer(200, { request_id: 'a'.repeat(300) }),
      /^fal accepted a job without giving its ID$/,
    ],
  ]
  for (const [name, fault, error] of unknown) {
    const { stub, provider } = await start()
    stub.fault = fault
    await t.rejects(provider.submit(vendorJob(picture), signal), error, name)
    t.equal(stub.requests.length, 1, name)
  }
})

t.test('an answer that breaks off is not asked for again', async t => {
  const { stub, provider } = await start()
  stub.fault = 'break'
  await t.rejects(provider.submit(vendorJob(picture), signal), /^fal did not answer: (UND_ERR_SOCKET|ECONNRESET)$/)
  t.equal(stub.requests.length, 1)
})

t.test("fal's library does not try again, whatever it is told by", async t => {
  for (const error of [
    new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNRESET' }) }),
    Object.assign(new Error('terminated'), { code: 'UND_ERR_SOCKET' }),
  ]) {
    let attempts = 0
    const request = () => {
      attempts += 1
      return Promise.reject(error)
    }
    const client = await openFal({ key: FAL_KEY }, { send: request } as unknown as UpstreamCall)
    await t.rejects(client.queue.submit(picture.model, { input: {} }), { message: error.message })
    await t.rejects(client.queue.status('fal-ai/flux', { requestId: 'any' }), { message: error.message })
    t.equal(attempts, 2)
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
  const provider = createFalProvider(vendorDependencies(t, await deadAddress(), FAL_KEY))
  t.match(await provider.submit(vendorJob(picture), signal), { ...later, fault: { kind: 'unreachable' } })
  await t.rejects(Promise.resolve(provider.check?.(signal)), /^fal did not answer: ECONNREFUSED; check the account/)
})

t.test('a poll that fails says nothing about its job', async t => {
  const { stub, provider } = await start()
  const job = await accepted(provider, vendorJob(picture))
  const faults: [Fault, RegExp][] = [
    [answer(401, { detail: 'no' }), /^fal answered with 401$/],
    [answer(402, { detail: 'Payment Required' }), /^fal answered with 402$/],
    [answer(429, { detail: 'slow down' }), /^fal answered with 429$/],
    [answer(500, requestError('internal_error', 'oops')), /^fal answered with 500$/],
    [answer(502, '<h1>Bad gateway</h1>'), /^fal answered with 502$/],
    [answer(503, requestError('runner_scheduling_failure', 'no runner')), /^fal answered with 503$/],
    ['break', /^fal did not answer: /],
    ['cut', /^fal did not answer: (UND_ERR_SOCKET|ECONNRESET)$/],
    [answer(200, '<h1>Hello</h1>'), /^fal sent no status for the job$/],
    [answer(200, [1, 2]), /^fal sent no status for the job$/],
  ]
  for (const [fault, error] of faults) {
    const before = stub.requests.length
    stub.fault = fault
    await t.rejects(Promise.resolve(provider.poll?.(job, signal)), error)
    t.equal(stub.requests.length, before + 1)
  }
  stub.fault = undefined
  t.match(await provider.poll?.(job, signal), { kind: 'done' })
})

t.test('a job that is gone has failed', async t => {
  const { provider } = await start()
  const job = { ...(await accepted(provider, vendorJob(picture))), jobId: 'fal-ai/flux-pro/requests/gone' }
  t.match(await provider.poll?.(job, signal), { kind: 'failed', code: 'provider_error' })
  await t.rejects(Promise.resolve(provider.poll?.({ ...job, jobId: 'any' }, signal)), /not a job ID of fal/)
})

t.test('an unknown state is waited for', async t => {
  const { stub, provider } = await start()
  stub.job.states = [{ status: 'PAUSED' }]
  const job = await accepted(provider, vendorJob(picture))
  t.match(await provider.poll?.(job, signal), { kind: 'working' })
})

const failed = (error: string, error_type?: string) => ({ ...COMPLETED, error, error_type })

const ends: [string, object, ReturnType<typeof answer>, Partial<Failed> | RegExp][] = [
  [
    'content',
    failed('Invalid status code: 422'),
    answer(422, issue('content_policy_violation', 'flagged')),
    { code: 'content_rejected' },
  ],
  [
    'content, with nothing in the status',
    COMPLETED,
    answer(422, issue('content_policy_violation', 'flagged')),
    { code: 'content_rejected' },
  ],
  [
    'a picture that is too small',
    COMPLETED,
    answer(422, issue('image_too_small', 'Minimum is 300 × 300', ['body', 'image_url'])),
    { code: 'invalid_input', message: 'The provider does not accept this input: image_url: Minimum is 300 × 300' },
  ],
  ['nothing was made', COMPLETED, answer(422, issue('no_media_generated', 'none')), { code: 'provider_error' }],
  ['a service behind', COMPLETED, answer(400, issue('downstream_service_error', 'none')), { code: 'provider_error' }],
  ['a model that crashed', COMPLETED, answer(500, { detail: 'Internal Server Error' }), { code: 'provider_error' }],
  [
    'no runner',
    failed('Runner scheduling failure', 'runner_scheduling_failure'),
    answer(503, requestError('runner_scheduling_failure', 'none')),
    { code: 'provider_error' },
  ],
  ['it took too long', COMPLETED, answer(504, requestError('request_timeout', 'late')), { code: 'provider_error' }],
  [
    'a cancelled job',
    failed('Request was cancelled', 'client_cancelled'),
    answer(499, requestError('client_cancelled', 'cancelled')),
    { code: 'provider_error' },
  ],
  [
    'an undocumented end',
    { status: 'CANCELLED', error: 'by the user' },
    answer(400, { detail: 'cancelled' }),
    { kind: 'failed' },
  ],
  [
    'a failure with a status of calls',
    failed('Invalid status code: 429'),
    answer(429, { detail: 'from behind' }),
    { code: 'provider_error' },
  ],
  ['a result that is gone', COMPLETED, answer(404, { detail: 'Request not found' }), { code: 'provider_error' }],
  ['a gateway', COMPLETED, answer(502, '<h1>Bad gateway</h1>'), /fal answered with 502/],
  ['a gateway that speaks JSON', COMPLETED, answer(503, { detail: 'unavailable' }), /fal answered with 503/],
  [
    'too many polls',
    COMPLETED,
    answer(429, requestError('concurrent_requests_limit', 'slow down')),
    /fal answered with 429/,
  ],
  ['a key that was revoked', COMPLETED, answer(401, { detail: 'no' }), /fal answered with 401/],
  ['no JSON', COMPLETED, answer(200, '<h1>Hello</h1>'), /the answer of fal is not JSON/],
]

t.test('the result of a failed job tells why; a failed call for a result tells nothing', async t => {
  for (const [name, state, result, expected] of ends) {
    const { stub, provider } = await start()
    stub.job = { states: [state], result: result }
    const job = await accepted(provider, vendorJob(picture))
    const polled = Promise.resolve(provider.poll?.(job, signal))
    if (expected instanceof RegExp) await t.rejects(polled, expected, name)
    else t.match(await polled, { kind: 'failed', retryable: undefined, fault: undefined, ...expected }, name)
  }
})
