import t, { type Test } from 'tap'
import { createAnthropicProvider } from '../../../../src/adapters/provider/anthropic/provider.ts'
import type { Provider, ProviderOutcome } from '../../../../src/ports/provider.ts'
import { anthropicError, anthropicKey, anthropicMessage, startAnthropic } from '../../../support/vendors/anthropic.ts'
import { vendorJob } from '../../../support/vendors/vendor-job.ts'
import { deadAddress, picture, pictureBytes, vendorDependencies } from '../../../support/vendors/vendor-parts.ts'
import { type Handler, reply, type VendorServer } from '../../../support/vendors/vendor-server.ts'

const model = 'claude-haiku-4-5'
const parameters = { prompt: 'What is a ledger?', max_tokens: 1024 }
const never = new AbortController().signal

const given = async (t: Test, answer?: Handler): Promise<{ provider: Provider; server: VendorServer }> => {
  const server = await startAnthropic(t, answer)
  return { server, provider: createAnthropicProvider(vendorDependencies(t, server.url, anthropicKey)) }
}

const ask = (provider: Provider, changes: Record<string, unknown> = {}, signal = never) =>
  provider.submit(vendorJob({ model, operation: 'messages', parameters: { ...parameters, ...changes } }), signal)

const posts = ({ requests }: VendorServer) => requests.filter(({ method }) => method === 'POST')
const bodyOf = (server: VendorServer) => JSON.parse(server.requests[0]?.body.toString() ?? '')

const unavailable = {
  kind: 'failed',
  code: 'provider_error',
  message: 'The provider is not available now.',
  retryable: true,
}
const rejected = {
  kind: 'failed',
  code: 'content_rejected',
  message: 'The content policy of the provider forbids this.',
}

t.test('a prompt is answered in text, with what it used', async t => {
  const { provider, server } = await given(t)
  t.same(await ask(provider), {
    kind: 'done',
    media: [],
    text: 'A ledger is a book of money.',
    work: {
      version: 'claude-haiku-4-5-20251001',
      units: {
        input_tokens: 17,
        output_tokens: 9,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        web_fetch_requests: 0,
        web_search_requests: 2,
      },
    },
  })
  t.same(bodyOf(server), { model, max_tokens: 1024, messages: [{ role: 'user', content: 'What is a ledger?' }] })
  t.equal(posts(server).length, 1)
})

t.test('only the headers that the API needs are sent, whatever the environment says', async t => {
  const settings = {
    ANTHROPIC_API_KEY: 'sk-ant-other',
    ANTHROPIC_AUTH_TOKEN: 'other',
    ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    ANTHROPIC_CUSTOM_HEADERS: 'X-Api-Key: sk-ant-other\nX-Secret: other',
    ANTHROPIC_LOG: 'debug',
    ANTHROPIC_PROFILE: 'other',
  }
  const before = { ...process.env }
  Object.assign(process.env, settings)
  t.teardown(() => {
    process.env = before
  })
  const { provider, server } = await given(t)
  t.match(await ask(provider), { kind: 'done' })
  const headers = server.requests[0]?.headers ?? {}
  const ofTransport = /^(host|connection|user-agent|content-length|transfer-encoding|accept.*|sec-fetch-.*)$/
  t.same(
    Object.keys(headers)
      .filter(name => !ofTransport.test(name))
      .sort(),
    ['anthropic-version', 'authorization', 'content-type'],
  )
  t.equal(headers.authorization, `Bearer ${anthropicKey}`)
})

t.test('parameters', async t => {
  const cases: [string, Record<string, unknown>, Record<string, unknown>, string][] = [
    ['an empty system prompt is left out', { system: '' }, {}, '2026-10-21'],
    ['a system prompt is sent', { system: 'Be brief.' }, { system: 'Be brief.' }, '2026-10-21'],
    ['thinking is sent', { thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }, '2026-10-21'],
    ['temperature needs the older version', { temperature: 0.2 }, { temperature: 0.2 }, '2023-06-01'],
    ['top_k needs the older version', { top_k: 40 }, { top_k: 40 }, '2023-06-01'],
    ['top_p needs the older version', { top_p: 0.9 }, { top_p: 0.9 }, '2023-06-01'],
    [
      'a file is sent before the prompt',
      { image: picture },
      {
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: pictureBytes.toString('base64') },
              },
              { type: 'text', text: 'What is a ledger?' },
            ],
          },
        ],
      },
      '2026-10-21',
    ],
    [
      'messages of one speaker in a row are one message, and instructions stand beside them',
      {
        prompt: undefined,
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hello' },
          { role: 'user', content: [{ type: 'text', text: 'Who are you?' }] },
        ],
      },
      {
        system: 'Be brief.',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Hello' },
              { type: 'text', text: 'Who are you?' },
            ],
          },
        ],
      },
      '2026-10-21',
    ],
  ]
  for (const [name, changes, sent, version] of cases)
    await t.test(name, async t => {
      const { provider, server } = await given(t)
      t.match(await ask(provider, changes), { kind: 'done' })
      const usual = { model, max_tokens: 1024, messages: [{ role: 'user', content: 'What is a ledger?' }] }
      t.same(bodyOf(server), { ...usual, ...sent })
      t.equal(server.requests[0]?.headers['anthropic-version'], version)
    })
})

t.test('answers that are no success', async t => {
  const work = { version: 'claude-haiku-4-5-20251001', units: { input_tokens: 17, output_tokens: 9 } }
  const usage = work.units
  const noText = { kind: 'failed', code: 'provider_error', message: 'The provider returned no text.' }
  const cases: [string, unknown, ProviderOutcome][] = [
    [
      'a refusal',
      anthropicMessage({
        usage,
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: 'bio', explanation: null },
        content: [{ type: 'text', text: 'I' }],
      }),
      { ...rejected, work } as ProviderOutcome,
    ],
    [
      'only thoughts',
      anthropicMessage({
        usage,
        stop_reason: 'max_tokens',
        content: [{ type: 'thinking', thinking: '…', signature: '' }],
      }),
      {
        ...noText,
        message: 'The model used the whole length of the answer for thinking. Allow a longer answer.',
        work,
      } as ProviderOutcome,
    ],
    ['no content', anthropicMessage({ usage, content: [] }), { ...noText, work } as ProviderOutcome],
    [
      'JSON of another shape',
      { content: [null, { type: 'text' }] },
      { ...noText, work: { units: {} } } as ProviderOutcome,
    ],
    ['an empty list', [], { ...noText, work: { units: {} } } as ProviderOutcome],
    ['null', null, { ...noText, work: { units: {} } } as ProviderOutcome],
  ]
  for (const [name, answer, outcome] of cases)
    await t.test(name, async t => {
      const { provider, server } = await given(t, (_request, response) => reply(response, 200, answer))
      t.same(await ask(provider), outcome)
      t.equal(posts(server).length, 1)
    })
})

t.test('errors', async t => {
  const cases: [number, unknown, Record<string, string>, object][] = [
    [400, anthropicError('invalid_request_error', 'Output blocked by content filtering policy'), {}, rejected],
    [
      400,
      anthropicError('invalid_request_error', `max_tokens: 99999 > 64000, ${anthropicKey}, see https://x.example/?a`),
      {},
      {
        kind: 'failed',
        code: 'invalid_input',
        message: 'The provider does not accept this input: max_tokens: 99999 > 64000, …, see …',
      },
    ],
    [
      400,
      anthropicError('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
      {},
      { ...unavailable, fault: { kind: 'out_of_quota' } },
    ],
    [
      400,
      anthropicError('invalid_request_error', 'You have reached your specified API usage limits.'),
      {},
      { ...unavailable, fault: { kind: 'out_of_quota' } },
    ],
    [
      400,
      anthropicError('invalid_request_error', 'This organization is on hold.', 'organization_on_hold'),
      {},
      { ...unavailable, fault: { kind: 'unauthorized' } },
    ],
    [401, anthropicError('authentication_error', 'invalid'), {}, { ...unavailable, fault: { kind: 'unauthorized' } }],
    [402, anthropicError('billing_error', 'pay'), {}, { ...unavailable, fault: { kind: 'out_of_quota' } }],
    [403, anthropicError('permission_error', 'no'), {}, { ...unavailable, fault: { kind: 'unauthorized' } }],
    [404, anthropicError('not_found_error', 'model: claude-0'), {}, { ...unavailable, fault: { kind: 'gone' } }],
    [
      413,
      '<html>Request Entity Too Large</html>',
      {},
      { kind: 'failed', code: 'invalid_input', message: 'The provider does not accept this input.' },
    ],
    [
      429,
      anthropicError('rate_limit_error', 'slow down'),
      { 'retry-after': '7' },
      { ...unavailable, fault: { kind: 'rate_limited', retryAfterMs: 7000 } },
    ],
    [429, anthropicError('rate_limit_error', 'slow down'), {}, { ...unavailable, fault: { kind: 'rate_limited' } }],
    [
      429,
      anthropicError('rate_limit_error', 'spent', 'enforced_spend_limit_reached'),
      {},
      { ...unavailable, fault: { kind: 'out_of_quota' } },
    ],
    [500, anthropicError('api_error', 'oh'), {}, { ...unavailable, fault: { kind: 'overloaded' } }],
    [
      503,
      anthropicError('api_error', 'wait', 'cmek_key_unreachable'),
      {},
      { ...unavailable, fault: { kind: 'overloaded' } },
    ],
    [
      529,
      anthropicError('overloaded_error', 'Overloaded'),
      { 'retry-after': '3', 'x-should-retry': 'true' },
      { ...unavailable, fault: { kind: 'overloaded', retryAfterMs: 3000 } },
    ],
  ]
  for (const [status, body, headers, outcome] of cases)
    await t.test(`${status} ${JSON.stringify(body)}`, async t => {
      const { provider, server } = await given(t, (_request, response) => reply(response, status, body, headers))
      t.same(await ask(provider), { ...outcome, status })
      t.equal(posts(server).length, 1)
    })
})

t.test('nobody knows what became of the request', async t => {
  const cases: [string, Handler, RegExp][] = [
    ['502', (_request, response) => reply(response, 502, '<html>'), /^Anthropic answered with 502$/],
    [
      '504',
      (_request, response) => reply(response, 504, anthropicError('timeout_error', 'late')),
      /^Anthropic answered with 504$/,
    ],
    ['the connection is cut', (_request, response) => response.destroy(), /^Anthropic did not answer: /],
    [
      'the answer is cut',
      (_request, response) => {
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 100 })
        response.write('{"id":', () => response.socket?.end())
      },
      /^(the answer of Anthropic could not be read$|Anthropic did not answer: )/,
    ],
    [
      'the page of a proxy',
      (_request, response) => reply(response, 200, '<html>Hello</html>'),
      /^the answer of Anthropic is not JSON$/,
    ],
    [
      'the answer is no JSON',
      (_request, response) => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"id": "secret'),
      /^the answer of Anthropic is not JSON$/,
    ],
  ]
  for (const [name, handler, message] of cases)
    await t.test(name, async t => {
      const { provider, server } = await given(t, handler)
      await t.rejects(ask(provider), { message })
      t.equal(posts(server).length, 1)
    })
  await t.test('a hang', async t => {
    const stop = new AbortController()
    const { provider, server } = await given(t, () => stop.abort())
    await t.rejects(ask(provider, {}, stop.signal))
    t.equal(posts(server).length, 1)
  })
})

t.test('an address at which nobody listens has accepted nothing', async t => {
  const provider = createAnthropicProvider(vendorDependencies(t, await deadAddress(), anthropicKey))
  t.same(await ask(provider), { ...unavailable, fault: { kind: 'unreachable' } })
})

t.test('a file that is unusable is not sent', async t => {
  const { provider, server } = await given(t)
  t.same(await ask(provider, { image: { fileUrl: 'https://example.com/page' } }), {
    kind: 'failed',
    code: 'invalid_input',
    message: 'image_url: The address returned text/html.',
  })
  t.equal(server.requests.length, 0)
})

t.test('a key that no header can hold is not shown', async t => {
  const make = () => createAnthropicProvider(vendorDependencies(t, 'http://127.0.0.1:1', 'secret\nkey'))
  t.throws(make, { message: /^ANTHROPIC_API_KEY holds a character that is not allowed in a key; / })
})

t.test('another operation does not exist', async t => {
  const { provider } = await given(t)
  const job = vendorJob({ model, operation: 'complete', parameters })
  await t.rejects(provider.submit(job, never), { message: 'Anthropic has no operation complete' })
})

t.test('the account is checked without cost', async t => {
  const models = { data: [{ type: 'model', id: model }], has_more: false, first_id: model, last_id: model }
  const { provider, server } = await given(t, (_request, response) => reply(response, 200, models))
  await provider.check?.(never)
  t.same(
    server.requests.map(({ method, path }) => `${method} ${path}`),
    ['GET /v1/models?limit=1'],
  )
})

t.test('a check says what to do', async t => {
  const cases: [string, Handler, RegExp][] = [
    [
      'a wrong key',
      (_request, response) => reply(response, 401, anthropicError('authentication_error', `no ${anthropicKey}`)),
      /^Anthropic refuses the key; check ANTHROPIC_API_KEY \(Anthropic answered with 401: no …\)$/,
    ],
    ['no JSON', (_request, response) => reply(response, 200, '<html>'), /check ANTHROPIC_BASE_URL$/],
    ['a cut', (_request, response) => response.destroy(), /check ANTHROPIC_BASE_URL$/],
    ['503', (_request, response) => reply(response, 503, ''), /^Anthropic is overloaded or down; try again later/],
  ]
  for (const [name, handler, message] of cases)
    await t.test(name, async t => {
      const { provider } = await given(t, handler)
      await t.rejects(async () => provider.check?.(never), { message })
    })
})
