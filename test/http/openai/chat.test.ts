import OpenAI, { type APIError } from 'openai'
import t from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import { openAiClient } from '../../support/openai-client.ts'
import { recorded } from '../../support/recorded.ts'
import { type Customer, openAccount, openKey, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'
import { completion, errorBody, KEY, PNG, startOpenAi } from '../../support/vendors/openai.ts'
import { reply } from '../../support/vendors/vendor-server.ts'

const vendor = await startOpenAi(t)
const service = await startService(t, { environment: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: vendor.url } })
const customer = await openAccount(service)
const { client, sent } = openAiClient(customer, { maxRetries: 0 })

/** The sandbox does as its parameters say. */
const testing = await startService(t)

const model = 'gpt-6-1-terra'
type Chat = OpenAI.ChatCompletionCreateParamsNonStreaming
const hello: Chat = { model, messages: [{ role: 'user', content: 'hello' }] }
const hi: Chat = { model: 'sandbox', messages: [{ role: 'user', content: 'hi' }] }

const runsOf = async (owner: Customer) => (await owner.send<RunList>('/v1/runs')).body.data

/** The error of a chat, which must not cost anything. */
const refused = async (parameters: object, owner: Customer = customer): Promise<APIError> => {
  const [balance, count] = [await owner.balance(), (await runsOf(owner)).length]
  const asked = openAiClient(owner, { maxRetries: 0 }).client.chat.completions.create({
    ...hello,
    ...parameters,
  } as Chat)
  const error = await asked.then(
    () => t.fail('the chat was accepted'),
    error => error,
  )
  t.same([await owner.balance(), (await runsOf(owner)).length], [balance, count])
  return error as APIError
}

t.test('a chat is a run, and its answer has the form of OpenAI', async t => {
  const asked = await client.chat.completions.create({
    ...{ model, reasoning_effort: 'low', verbosity: 'low', max_completion_tokens: 100 },
    messages: [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'assistant', content: 'yes', refusal: null, tool_calls: [] },
      { role: 'user', content: 'three' },
    ],
    ...{ n: 1, stream: false, logprobs: null, presence_penalty: 0, frequency_penalty: 0, temperature: 1 },
    ...{ response_format: { type: 'text' }, tools: [], parallel_tool_calls: true, service_tier: 'auto', stop: null },
    ...{ metadata: { order: '17' }, user: 'u-17' },
  })
  t.match(vendor.bodies.at(-1), {
    ...{ model: 'gpt-6.1-terra', reasoning_effort: 'low', verbosity: 'low', max_completion_tokens: 100 },
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'assistant', content: 'yes' },
      { role: 'user', content: 'three' },
    ],
  })
  const [run] = await runsOf(customer)
  t.equal(sent.at(-1)?.headers.get('Tollgate-Run'), run?.run_id)
  t.match(run, { model, provider: 'openai', metadata: { order: '17', user: 'u-17' }, output: { text: /^You said/ } })
  const [charged, released] = [run?.credits_charged, run?.credits_released].map(credits => toMicros(credits ?? 0))
  const credits = fromMicros(Number(charged) - Number(released))
  t.equal(toMicros(await customer.balance()), toMicros(100) - toMicros(credits))
  t.match(asked, {
    ...{
      id: run?.run_id,
      object: 'chat.completion',
      model,
      created: Math.floor(Date.parse(run?.created_at ?? '') / 1000),
    },
    choices: [
      { index: 0, message: { role: 'assistant', content: run?.output?.text, refusal: null }, finish_reason: 'stop' },
    ],
    usage: {
      ...{ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29, credits, run_id: run?.run_id },
      prompt_tokens_details: { cached_tokens: 3 },
    },
  })
  const { data } = (await customer.send<{ data: { kind: string; run_id: string }[] }>('/v1/ledger')).body
  t.match(data, [
    { kind: 'release', run_id: run?.run_id },
    { kind: 'debit', run_id: run?.run_id },
  ])
})

t.test('values that change nothing, and null, are accepted by a model without parameters', async t => {
  const neutral = {
    ...{ n: 1, stream: false, logprobs: false, top_logprobs: 0, logit_bias: {}, stop: [] },
    ...{ presence_penalty: 0, frequency_penalty: 0, temperature: 1, top_p: 1, modalities: ['text'] },
    ...{ response_format: { type: 'text' }, service_tier: 'default', prompt_cache_retention: 'in_memory' },
    ...{ tools: [], tool_choice: 'none', parallel_tool_calls: false, functions: [], function_call: 'none' },
  }
  const further = {
    ...{ max_tokens: 16, max_completion_tokens: 16, seed: 1, metadata: {}, user: 'u', safety_identifier: 'u' },
    ...{ reasoning_effort: 'low', verbosity: 'low', prompt_cache_key: 'k', stream_options: {} },
    ...{ audio: {}, prediction: {}, web_search_options: {} },
  }
  const nulls = Object.fromEntries(Object.keys({ ...neutral, ...further }).map(name => [name, null]))
  const { client } = openAiClient(await openAccount(testing, { tester: true }), { maxRetries: 0 })
  for (const parameters of [neutral, nulls]) {
    const { choices } = await client.chat.completions.create({ ...hi, ...parameters } as Chat)
    t.match(choices, [{ finish_reason: 'stop' }])
  }
})

t.test('the example is the answer of the service', async t => {
  const answer = completion({ content: 'Air scatters blue light more than red light.' })
  vendor.answer = response => reply(response, 200, answer)
  const { body } = await customer.post('/v1/chat/completions', {
    ...{ model, reasoning_effort: 'low', max_completion_tokens: 1024 },
    messages: [
      { role: 'developer', content: 'Answer in one sentence.' },
      { role: 'user', content: 'Why is the sky blue?' },
    ],
  })
  delete vendor.answer
  recorded(t, 'chat', body)
})

t.test('an answer says that it was cut off at its longest length', async t => {
  const usage = { prompt_tokens: 5, completion_tokens: 16, total_tokens: 21 }
  vendor.answer = response => reply(response, 200, { ...completion({ content: 'Once upon' }, 'length'), usage })
  const { choices } = await client.chat.completions.create({ ...hello, max_tokens: 16 })
  vendor.answer = response => reply(response, 200, { ...completion({ content: 'Once upon' }), usage })
  const { choices: whole } = await client.chat.completions.create({ ...hello, max_tokens: 16 })
  delete vendor.answer
  t.same([choices[0]?.finish_reason, whole[0]?.finish_reason], ['length', 'stop'])
})

t.test('a model is named by its ID, an alias, or the ID of an endpoint', async t => {
  const { model } = await client.chat.completions.create({ ...hello, model: 'gpt-6-1-terra-t2t' })
  t.equal(model, 'gpt-6-1-terra')
})

const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } }
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }

t.test('what a model lacks is refused with its name and costs nothing', async t => {
  const cases: [parameters: object, param: string, message: RegExp][] = [
    [{ seed: 7 }, 'seed', /seed is unknown; expected one of/],
    [{ n: 2 }, 'n', /n must be 1, since the model does not have this parameter/],
    [{ temperature: 0 }, 'temperature', /must be 1, since/],
    [{ stop: ['\n'] }, 'stop', /must be \[\], since/],
    [{ logit_bias: { 50256: -100 } }, 'logit_bias', /must be \{\}, since/],
    [{ logprobs: true, top_logprobs: 5 }, 'logprobs', /must be false, since/],
    [{ top_logprobs: 5 }, 'top_logprobs', /must be 0, since/],
    [{ presence_penalty: 1 }, 'presence_penalty', /must be 0, since/],
    [{ frequency_penalty: 1 }, 'frequency_penalty', /must be 0, since/],
    [{ store: true }, 'store', /must be false, since/],
    [{ service_tier: 'flex' }, 'service_tier', /must be "auto" or "default", since/],
    [{ modalities: ['text', 'audio'] }, 'modalities', /must be \["text"\], since/],
    [{ functions: [{ name: 'f' }], function_call: 'auto' }, 'functions', /must be \[\], since/],
    [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention', /must be "in_memory", since/],
    [{ response_format: { type: 'xml' } }, 'response_format.type', /must be one of text, json_object/],
    [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools[0].function', /required/],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name', /name of the function/],
    [{ tool_choice: 'required' }, 'tool_choice', /needs tools/],
    [{ tool_choice: { type: 'function', function: { name: 'f' } } }, 'tool_choice.function.name', /one of the tools/],
    [{ tool_choice: 'any' }, 'tool_choice', /must match the pattern/],
    [{ max_tokens: 100_000 }, 'max_tokens', /must be at most 32768/],
    [{ max_completion_tokens: 1 }, 'max_completion_tokens', /must be at least 16/],
    [{ max_tokens: 20, max_completion_tokens: 20 }, 'max_tokens', /the same as/],
    [{ reasoning_effort: 'huge' }, 'reasoning_effort', /must be one of none, low/],
    [{ stream_options: { include_usage: true } }, 'stream_options', /needs stream/],
    [
      { stream: true, stream_options: { include_obfuscation: true } },
      'stream_options.include_obfuscation',
      /is not supported/,
    ],
    [{ messages: [] }, 'messages', /at least 1 item/],
    [
      { messages: [{ role: 'user', content: '1', ['a'.repeat(10_000)]: 1 }] },
      `messages[0].${'a'.repeat(1_000 - '/messages/0/'.length)}`,
      /is not supported/,
    ],
    [{ messages: [{ role: 'tool', content: '1' }] }, 'messages[0].tool_call_id', /is required/],
    [{ messages: [{ role: 'user', content: '1', tool_call_id: '1' }] }, 'messages[0].tool_call_id', /the role tool/],
    [{ messages: [{ role: 'user', content: '1', tool_calls: [call] }] }, 'messages[0].tool_calls', /assistant/],
    [{ messages: [{ role: 'user', content: '' }] }, 'messages[0].content', /must not be empty/],
    [{ messages: [{ role: 'assistant', content: null }] }, 'messages[0].content', /is required/],
    [{ messages: [{ role: 'system', content: [image] }] }, 'messages[0].content[0].type', /must be text/],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages[0].content[0].text', /required/],
    [{ messages: [{ role: 'user', content: 'a', name: 'Ada' }] }, 'messages[0].name', /not supported/],
    [{ model: 'nano-banana-2' }, 'model', /output_type text, not image/],
    [{ metadata: 'x' }, 'metadata', /object/],
    [{ metadata: { note: 'x'.repeat(20_000) } }, 'metadata', /larger than 16384 bytes/],
    [{ messages: Array(4_001).fill({ role: 'user', content: 'x' }) }, 'messages', /at most 4000 items/],
  ]
  const parts: [part: object, param: string, message: RegExp][] = [
    [{ type: 'input_audio' }, '', /text or image_url/],
    [{ type: 'file' }, '', /text or image_url/],
    [{ type: 'image_url', image_url: { url: 'x' } }, '.image_url.url', /http/],
    [{ type: 'image_url', image_url: { url: 'http://127.0.0.1/a.png' } }, '.image_url.url', /public host/],
    [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }, '.image_url.url', /not accepted/],
    [{ type: 'image_url', image_url: { ...image.image_url, detail: 'low' } }, '.image_url.detail', /must be auto/],
  ]
  for (const [part, place, message] of parts) {
    const content = [{ type: 'text', text: 'what is this?' }, part]
    cases.push([
      { messages: [hello.messages[0], { role: 'user', content }] },
      `messages[1].content[1]${place}`,
      message,
    ])
  }
  for (const [parameters, param, message] of cases) {
    const error = await refused(parameters)
    t.ok(error instanceof OpenAI.BadRequestError, param)
    t.match(error, { status: 400, type: 'invalid_request_error', param, message }, param)
    t.equal(error.headers?.get('X-Should-Retry'), 'false')
    t.match(error.error, { code: /^invalid_(input|request)$/, request_id: error.requestID })
  }
})

t.test('errors have the classes and types of OpenAI', async t => {
  const unknown = { url: customer.url, apiKey: 'tg_sk_live_unknown' }
  const stranger = openAiClient(unknown, { maxRetries: 0 }).client
  await t.rejects(stranger.chat.completions.create(hello), {
    ...{ status: 401, type: 'authentication_error', code: 'invalid_api_key', param: null },
  })
  t.match(await refused({}, await openAccount(service, { credits: 0.001 })), {
    ...{ status: 402, type: 'insufficient_quota', code: 'insufficient_credits', param: null },
    error: { credits_balance: 0.001 },
  })
  const reader = await openAccount(service, { scope: 'read' })
  t.match(await refused({}, reader), { status: 403, type: 'permission_error', code: 'forbidden' })
  const withdrawn = await refused({ model: 'gpt-5-mini' })
  t.ok(withdrawn instanceof OpenAI.NotFoundError)
  t.match(withdrawn, { type: 'invalid_request_error', code: 'model_not_found', error: { replaced_by: model } })
  const unserved = await refused({ model: 'claude-haiku-4-5' })
  t.match(unserved, { status: 503, type: 'api_error', code: 'unavailable' })
  t.equal(unserved.headers?.get('X-Should-Retry'), 'false', 'only the operator can help')
  t.match(await refused({ model: undefined }), { status: 400, param: 'model', message: /model is required/ })
})

t.test('a key that sends too much gets a rate limit error', async t => {
  const limited = await startService(t, { environment: { REQUESTS_PER_MINUTE_PER_KEY: '1' } })
  const { client } = openAiClient(await openAccount(limited), { maxRetries: 0 })
  await client.models.list()
  const error = await client.chat.completions.create(hello).catch(error => error)
  t.ok(error instanceof OpenAI.RateLimitError)
  t.match(error, { type: 'rate_limit_error', code: 'rate_limited' })
  t.equal(error.headers.get('X-Should-Retry'), 'true')
})

t.test('a failed run is an error and is refunded', async t => {
  const cases = [
    ['content_rejected', 400, 'invalid_request_error', 1],
    ['invalid_input', 400, 'invalid_request_error', 1],
    ['provider_error', 502, 'api_error', 2],
    ['interrupted', 502, 'api_error', 2],
    ['provider_timeout', 504, 'api_error', 2],
  ] as const
  for (const [outcome, status, type, attempts] of cases) {
    const tester = await openAccount(testing, { tester: true })
    const { client, sent } = openAiClient(tester, { maxRetries: 1 })
    const asked = client.chat.completions.create({ ...hi, outcome } as Chat)
    await t.rejects(asked, { status, type, code: outcome, param: null, message: /asked the sandbox to fail/ })
    t.equal(sent.length, attempts, outcome)
    const runs = await runsOf(tester)
    t.equal(runs.length, attempts, 'each attempt is a run of its own')
    t.equal(sent.at(-1)?.headers.get('Tollgate-Run'), runs[0]?.run_id)
    t.equal(sent.at(-1)?.headers.get('X-Should-Retry'), String(status > 500))
    t.equal(await tester.balance(), 100)
  }
})

t.test('what the vendor refuses is an error, too', async t => {
  vendor.answer = response => reply(response, 500, errorBody('The server had an error', 'server_error'))
  await t.rejects(client.chat.completions.create(hello), { status: 502, code: 'provider_error' })
  vendor.answer = response => reply(response, 200, completion({ content: null, refusal: 'No.' }))
  await t.rejects(client.chat.completions.create(hello), { status: 400, code: 'content_rejected' })
  delete vendor.answer
})

t.test('a cancelled run is an error that is not repeated', async t => {
  const tester = await openAccount(testing, { tester: true })
  const { client } = openAiClient(tester)
  const asked = client.chat.completions.create({
    ...{ ...hi, delay_ms: 60_000 },
  } as Chat)
  asked.catch(() => undefined)
  const run = await until('the run has started', async () => (await runsOf(tester))[0])
  await tester.post(`/v1/runs/${run.run_id}/cancel`, {})
  await t.rejects(asked, { status: 400, code: 'cancelled' })
  t.equal((await runsOf(tester)).length, 1)
  t.equal(await tester.balance(), 100)
})

t.test('a repeated idempotency key gets the same run, and its failure is final', async t => {
  const tester = await openAccount(testing, { tester: true })
  const { client, sent } = openAiClient(tester)
  const options = { headers: { 'Idempotency-Key': 'order-17' } }
  const first = await client.chat.completions.create(hi, options)
  t.same(await client.chat.completions.create(hi, options), first)
  t.equal(sent.at(-1)?.headers.get('Idempotent-Replayed'), 'true')
  t.equal(await tester.balance(), 99)
  const other: Chat = { ...hi, messages: [{ role: 'user', content: 'ho' }] }
  await t.rejects(client.chat.completions.create(other, options), { status: 422, code: 'idempotency_mismatch' })
  const failing = { ...hi, outcome: 'provider_error' } as Chat
  const asked = client.chat.completions.create(failing, { headers: { 'Idempotency-Key': 'order-18' } })
  await t.rejects(asked, { status: 502, code: 'provider_error' })
  t.equal((await runsOf(tester)).length, 2)
})

t.test('a model with one prompt takes one message', async t => {
  const tester = await openAccount(testing, { tester: true })
  const { choices, usage } = await openAiClient(tester).client.chat.completions.create(hi)
  t.equal(choices[0]?.message.content, 'Sandbox heard: hi')
  t.match(usage, { prompt_tokens: 0, total_tokens: 0, credits: 1 })
  const messages = [{ role: 'system', content: 'Be brief.' }, ...hi.messages]
  t.match(await refused({ model: 'sandbox', messages }, tester), {
    param: 'messages',
    message: /one message of the user/,
  })
})

t.test('a test run is free, and says so', async t => {
  const testKey = await openKey(service, customer, { livemode: false })
  const balance = await customer.balance()
  const { usage } = await openAiClient(testKey).client.chat.completions.create(hello)
  t.match(usage, { credits: 0 })
  t.equal(await customer.balance(), balance)
})
