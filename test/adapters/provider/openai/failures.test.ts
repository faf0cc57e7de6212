import { createServer } from 'node:net'
import t from 'tap'
import { createOpenAiProvider } from '../../../../src/adapters/provider/openai/provider.ts'
import { until, withDeadline } from '../../../support/until.ts'
import { PICTURE_URL, vendorDependencies, vendorJob } from '../../../support/vendors/jobs.ts'
import { errorBody, KEY } from '../../../support/vendors/openai.ts'
import { misbehave, reply } from '../../../support/vendors/vendor-server.ts'
import { open, signal } from './support.ts'

const operations: Record<string, Record<string, unknown>> = {
  'chat.completions': { prompt: 'Hello?' },
  'images.generate': { prompt: 'a fox' },
  'images.edit': { prompt: 'a coat', image: { fileUrl: PICTURE_URL } },
  'audio.speech': { input: 'Hello.', voice: 'alloy' },
  videos: { prompt: 'a lake' },
}

const unavailable = (kind: string, retryAfterMs?: number) => ({
  kind: 'failed',
  code: 'provider_error',
  message: 'The provider is not available now.',
  retryable: true,
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
    name: 'moderation of gpt-image models',
    status: 400,
    // https://github.com/jeffstric/ZJT/issues/480
    body: errorBody('Rejected by the safety system.', 'image_generation_user_error', 'moderation_blocked'),
    expected: rejected,
  },
  {
    name: 'moderation of older image models',
    status: 400,
    body: errorBody('Your request was rejected.', 'invalid_request_error', 'content_policy_violation'),
    expected: rejected,
  },
  {
    name: 'moderation by words',
    status: 400,
    // https://github.com/RanFeng/clipsketch-ai/issues/6
    body: errorBody('Your request was rejected as a result of our safety system.', 'invalid_request_error'),
    expected: rejected,
  },
  {
    name: 'moderation of text',
    status: 400,
    // https://github.com/BeehiveInnovations/pal-mcp-server/issues/178
    body: errorBody('Your prompt was flagged as potentially violating our usage policy.', 'x', 'invalid_prompt'),
    expected: rejected,
  },
  {
    name: 'bad input',
    status: 400,
    body: errorBody(`Invalid size for ${KEY},\nsee https://x.y.`, 'invalid_request_error', 'invalid_value'),
    expected: invalid(': Invalid size for …, see …'),
  },
  {
    name: 'bad input, in the words of Ollama',
    status: 400,
    body: { error: 'Too long.' },
    expected: invalid(': Too long.'),
  },
  {
    name: 'bad input, in the words of older vLLM',
    status: 400,
    body: { object: 'error', message: 'Too long.', type: 'BadRequestError', code: 400 },
    expected: invalid(': Too long.'),
  },
  { name: 'bad input without words', status: 422, body: '<html>No.</html>', expected: invalid('.') },
  {
    name: 'a refused key',
    status: 401,
    body: errorBody(`Incorrect API key provided: ${KEY}`, 'invalid_request_error', 'invalid_api_key'),
    expected: unavailable('unauthorized'),
  },
  { name: 'no money', status: 402, body: errorBody('Pay.', 'billing'), expected: unavailable('out_of_quota') },
  { name: 'a forbidden country', status: 403, body: errorBody('Country.', 'x'), expected: unavailable('unauthorized') },
  {
    name: 'a model for verified organisations',
    status: 403,
    // https://github.com/openai-php/client/issues/565
    body: errorBody('Your organization must be verified to use the model `gpt-image-x`.', 'invalid_request_error'),
    expected: unavailable('gone'),
  },
  {
    name: 'a model that is gone',
    status: 404,
    body: errorBody('The model does not exist.', 'invalid_request_error', 'model_not_found'),
    expected: unavailable('gone'),
  },
  {
    name: 'no quota',
    status: 429,
    body: errorBody('You exceeded your current quota.', 'insufficient_quota', 'project_spend_limit_exceeded'),
    expected: unavailable('out_of_quota'),
  },
  {
    name: 'the limit of billing for images',
    status: 400,
    // https://github.com/dfinke/PowerShellAI/issues/127
    body: errorBody('Billing hard limit has been reached', 'invalid_request_error', 'billing_hard_limit_reached'),
    expected: unavailable('out_of_quota'),
  },
  {
    name: 'too many requests',
    status: 429,
    body: errorBody('Rate limit reached for requests', 'requests', 'rate_limit_exceeded'),
    expected: unavailable('rate_limited'),
  },
  {
    name: 'too many requests, with a time',
    status: 429,
    body: errorBody('Rate limit reached for requests', 'requests', 'rate_limit_exceeded'),
    headers: { 'Retry-After': '7', 'x-ratelimit-remaining-requests': '0', 'x-should-retry': 'true' },
    expected: unavailable('rate_limited', 7000),
  },
  { name: 'an error', status: 500, body: errorBody('Sorry.', 'server_error'), expected: unavailable('overloaded') },
  {
    name: 'overload',
    status: 503,
    body: '',
    headers: { 'Retry-After': '2' },
    expected: unavailable('overloaded', 2000),
  },
  { name: 'overload, as others say it', status: 529, body: '', expected: unavailable('overloaded') },
]

for (const [operation, parameters] of Object.entries(operations)) {
  t.test(`${operation}: each refusal has its meaning, after one request`, async t => {
    const { server, submit } = await open(t)
    for (const { name, expected, ...fault } of cases) {
      server.answer = response => misbehave(response, fault)
      t.same(await submit(operation, parameters), { ...expected, status: fault.status }, name)
    }
    t.equal(server.requests.length, cases.length)
  })

  t.test(`${operation}: without an answer that tells, nobody knows, and there was one request`, async t => {
    const { server, submit } = await open(t)
    for (const status of [408, 502, 504]) {
      server.answer = response => reply(response, status, { error: { message: `for ${KEY}` } })
      await t.rejects(submit(operation, parameters), { message: `OpenAI answered with ${status}` })
    }
    server.answer = response => response.destroy()
    await t.rejects(submit(operation, parameters), /fetch failed|did not answer/)
    server.answer = response =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).write('{ "id": ', () => {
        response.destroy()
      })
    await t.rejects(submit(operation, parameters), /could not be read|terminated|did not answer/)
    t.equal(server.requests.length, 5)
  })

  t.test(`${operation}: an answer of another shape says what is wrong`, async t => {
    const { server, submit } = await open(t)
    const broken = (type: string, text: string) => {
      server.answer = response => response.writeHead(200, { 'Content-Type': type }).end(text)
      return submit(operation, parameters).then(
        answer => (answer.kind === 'failed' ? `${answer.code}: ${answer.message}` : answer.kind),
        (error: Error) => `${error.name}: ${error.message}`,
      )
    }
    for (const text of ['{}', '[]', 'null', '"text"', `{ "${KEY}`, ''])
      t.match(await broken('application/json', text), /^(provider_error: The provider|Error: .*OpenAI)/, text)
    t.match(await broken('text/html', '<html>'), /^(provider_error: The provider|Error: .*OpenAI)/)
  })

  t.test(`${operation}: a call ends when nobody waits for it`, async t => {
    const { server, submit } = await open(t)
    const stop = new AbortController()
    server.answer = response => misbehave(response, 'hang')
    const answer = submit(operation, parameters, stop.signal)
    answer.catch(() => undefined)
    await until('the request has arrived', () => server.requests.length === 1)
    stop.abort()
    await t.rejects(withDeadline('the call has ended', answer), /abort/i)
    t.equal(server.requests.length, 1)
  })
}

t.test('a server that is not there has accepted nothing', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  await until('it listens', () => server.listening)
  const { port } = server.address() as { port: number }
  await new Promise(done => server.close(done))
  const provider = createOpenAiProvider(vendorDependencies(t, KEY, `http://127.0.0.1:${port}/v1`))
  t.same(await provider.submit(vendorJob('chat.completions', { prompt: 'Hi' }), signal), unavailable('unreachable'))
})

t.test('nothing is taken from the environment', async t => {
  const names = {
    ...{ OPENAI_ORG_ID: 'org-1', OPENAI_PROJECT_ID: 'proj-1', OPENAI_ADMIN_KEY: 'sk-admin' },
    ...{ OPENAI_BASE_URL: 'http://127.0.0.1:1', OPENAI_API_KEY: 'sk-other', OPENAI_LOG: 'debug' },
    OPENAI_CUSTOM_HEADERS: 'X-Spy: 1\nAuthorization: Bearer other',
  }
  t.intercept(process, 'env', { value: { ...process.env, ...names } })
  const printed = t.capture(console, 'debug').args
  const { server, submit } = await open(t)
  for (const [operation, parameters] of Object.entries(operations))
    t.match(await submit(operation, parameters), { kind: /done|submitted/ })
  const sent = JSON.stringify(server.requests.map(({ headers }) => headers))
  t.notMatch(sent, /org-1|proj-1|admin|other|spy/i)
  t.same(printed(), [])
})

t.test('a key that no header can hold is refused at once, without being shown', async t => {
  const make = () => createOpenAiProvider(vendorDependencies(t, 'sk-secret\n', 'http://127.0.0.1'))
  t.throws(make, { message: /^OPENAI_API_KEY holds a character that is not allowed in a key; / })
})
