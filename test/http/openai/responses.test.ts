import OpenAI, { type APIError } from 'openai'
import t from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import type { Message } from '../../../schemas/conversation.ts'
import { fromMicros, toMicros } from '../../../src/domain/money.ts'
import type { ProviderOutcome } from '../../../src/ports/provider.ts'
import { openAiClient } from '../../support/openai-client.ts'
import { recorded } from '../../support/recorded.ts'
import { picture } from '../../support/sample-files.ts'
import { type Customer, openAccount, openKey, startService } from '../../support/service.ts'
import { type Call, said, speakingProvider } from '../../support/speaking-provider.ts'
import { completion, KEY, startOpenAi } from '../../support/vendors/openai.ts'
import { reply } from '../../support/vendors/vendor-server.ts'

const { provider, nextCall, calls } = speakingProvider()
const service = await startService(t, { providers: { sandbox: provider } })
const customer = await openAccount(service)
const { client, sent } = openAiClient(customer, { maxRetries: 0 })

/** The sandbox does as its parameters say. */
const testing = await startService(t)

const model = 'gpt-6-1-terra'
const PNG_URL = `data:image/png;base64,${(await picture('png')).toString('base64')}`
type Request = OpenAI.Responses.ResponseCreateParamsNonStreaming

const tide: OpenAI.Responses.FunctionTool = {
  ...{ type: 'function', name: 'read_tide', description: 'The tide in a port.', strict: null },
  parameters: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
}

const runsOf = async (owner: Customer) => (await owner.send<RunList>('/v1/runs')).body.data

/** The response to a request, and the input of the model. */
const respond = async (request: object, outcome: ProviderOutcome = said('Yes.')) => {
  const asked = client.responses.create({ model, ...request } as Request)
  // A refusal rejects at once.
  const { job, end } = (await Promise.race([nextCall(), asked])) as Call
  end(outcome)
  return { response: await asked, input: job.input as { messages: Message[] } & Record<string, unknown> }
}

/** The error of a request, which must not cost anything. */
const refused = async (request: object, owner: Customer = customer): Promise<APIError> => {
  const [balance, count] = [await owner.balance(), (await runsOf(owner)).length]
  const { client } = openAiClient(owner, { maxRetries: 0 })
  const error = await client.responses.create({ model, input: 'hello', ...request } as Request).then(
    () => t.fail('the request was accepted'),
    error => error,
  )
  t.same([await owner.balance(), (await runsOf(owner)).length], [balance, count])
  t.equal(calls.length, 0)
  return error as APIError
}

t.test('a response is a run, and has the form of OpenAI', async t => {
  const { response, input } = await respond({
    ...{
      instructions: 'Be brief.',
      input: 'Why?',
      max_output_tokens: 100,
      reasoning: { effort: 'low', context: 'auto' },
    },
    ...{ text: { format: { type: 'text' }, verbosity: 'low' }, stream: false, background: false },
    ...{ include: ['reasoning.encrypted_content'], truncation: 'disabled', temperature: 1, top_p: 1, top_logprobs: 0 },
    ...{ tools: [], tool_choice: 'auto', parallel_tool_calls: true, max_tool_calls: 3, service_tier: 'auto' },
    ...{ previous_response_id: null, conversation: null, prompt: null, prompt_cache_key: 'u', context_management: [] },
    ...{ metadata: { order: '17' }, user: 'u-17', stream_options: { include_obfuscation: false } },
  })
  t.match(input, {
    ...{ reasoning_effort: 'low', verbosity: 'low', max_output_tokens: 100 },
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Why?' },
    ],
  })
  const [run] = await runsOf(customer)
  t.equal(sent.at(-1)?.headers.get('Tollgate-Run'), run?.run_id)
  t.match(run, { model, metadata: { order: '17', user: 'u-17' }, output: { text: 'Yes.' } })
  const { input_tokens = 0, output_tokens = 0 } = run?.usage ?? {}
  const [charged, released] = [run?.credits_charged, run?.credits_released].map(credits => toMicros(credits ?? 0))
  const credits = fromMicros(Number(charged) - Number(released))
  t.equal(toMicros(await customer.balance()), toMicros(100) - toMicros(credits))
  t.match(response, {
    ...{ id: run?.run_id, object: 'response', status: 'completed', model, error: null, incomplete_details: null },
    ...{ created_at: Math.floor(Date.parse(run?.created_at ?? '') / 1000), output_text: 'Yes.' },
    ...{ instructions: 'Be brief.', max_output_tokens: 100, metadata: { order: '17' }, tools: [], tool_choice: 'auto' },
    output: [
      {
        ...{ type: 'message', role: 'assistant', status: 'completed', id: run?.run_id.replace('run', 'msg') },
        content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
      },
    ],
    usage: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens, credits, run_id: run?.run_id },
  })
})

t.test('the example is the answer of the service', async t => {
  const vendor = await startOpenAi(t)
  const live = await startService(t, { environment: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: vendor.url } })
  const answer = completion({ content: 'Air scatters blue light more than red light.' })
  vendor.answer = response => reply(response, 200, answer)
  const { body } = await (await openAccount(live)).post('/v1/responses', {
    ...{ model, instructions: 'Answer in one sentence.', input: 'Why is the sky blue?' },
    ...{ reasoning: { effort: 'low' }, max_output_tokens: 1024 },
  })
  t.match(vendor.bodies.at(-1), {
    ...{ reasoning_effort: 'low', max_completion_tokens: 1024 },
    messages: [
      { role: 'system', content: 'Answer in one sentence.' },
      { role: 'user', content: 'Why is the sky blue?' },
    ],
  })
  recorded(t, 'openAiResponse', body)
})

t.test('items become messages, and the calls of one answer one message', async t => {
  const { input } = await respond({
    input: [
      { role: 'developer', content: 'Be brief.' },
      {
        ...{ type: 'message', role: 'user' },
        content: [
          { type: 'input_text', text: 'Where is this?' },
          { type: 'input_image', image_url: PNG_URL, detail: 'auto' },
        ],
      },
      {
        ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
        content: [
          { type: 'output_text', text: 'I shall look.', annotations: [], logprobs: [], parsed: { look: true } },
        ],
      },
      {
        ...{ id: 'fc_1', type: 'function_call', status: 'completed', parsed_arguments: { port: 'Ostend' } },
        ...{ call_id: 'call_1', name: 'read_tide', arguments: '{"port":"Ostend"}' },
      },
      { type: 'function_call', call_id: 'call_2', name: 'read_tide', arguments: '{"port":"Dover"}' },
      { type: 'function_call_output', call_id: 'call_1', output: '4 m' },
      { type: 'function_call_output', call_id: 'call_2', output: [{ type: 'input_text', text: '2 m' }] },
      { type: 'function_call', call_id: 'call_3', name: 'read_tide', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_3', output: '' },
    ],
    tools: [tide],
  })
  const call = (id: string, given: string) => ({
    ...{ id, type: 'function', function: { name: 'read_tide', arguments: given } },
  })
  t.same(input.messages, [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Where is this?' },
        { type: 'image_url', image_url: { url: PNG_URL } },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'I shall look.' }],
      tool_calls: [call('call_1', '{"port":"Ostend"}'), call('call_2', '{"port":"Dover"}')],
    },
    { role: 'tool', content: '4 m', tool_call_id: 'call_1' },
    { role: 'tool', content: [{ type: 'text', text: '2 m' }], tool_call_id: 'call_2' },
    { role: 'assistant', tool_calls: [call('call_3', '{}')] },
    { role: 'tool', content: '', tool_call_id: 'call_3' },
  ])
  const { type: _, strict: _strict, ...offered } = tide
  t.same(input['tools'], [{ type: 'function', function: offered }])
})

t.test('a model calls functions, and gets their results with the items of its answer', async t => {
  const text = said('I shall look.')
  const toolCalls = ['Ostend', 'Dover'].map((port, index) => ({
    ...{ id: `call_${index}`, type: 'function' as const },
    function: { name: 'read_tide', arguments: JSON.stringify({ port }) },
  }))
  const question = { role: 'user', content: 'Where is the tide higher?' } as const
  const asked = {
    input: [question],
    tools: [tide],
    parallel_tool_calls: true,
    tool_choice: { type: 'function', name: 'read_tide' },
  }
  const { response, input } = await respond(asked, { ...text, toolCalls } as ProviderOutcome)
  t.same(input['tool_choice'], { type: 'function', function: { name: 'read_tide' } })
  const suffix = response.id.slice('run_'.length)
  t.match(response, {
    ...{ status: 'completed', tools: [{ name: 'read_tide' }], tool_choice: { type: 'function', name: 'read_tide' } },
    output: [
      { type: 'message', content: [{ text: 'I shall look.' }] },
      {
        ...{
          id: `fc_${suffix}_0`,
          type: 'function_call',
          call_id: 'call_0',
          name: 'read_tide',
          arguments: '{"port":"Ostend"}',
        },
      },
      { ...{ id: `fc_${suffix}_1`, type: 'function_call', call_id: 'call_1', status: 'completed' } },
    ],
  })
  const results = [0, 1].map(index => ({
    type: 'function_call_output',
    call_id: `call_${index}`,
    output: `${index} m`,
  }))
  const next = await respond({ input: [question, ...response.output, ...results], tools: [tide] }, said('In Dover.'))
  t.match(next.input.messages.slice(1), [
    { role: 'assistant', content: [{ text: 'I shall look.' }], tool_calls: toolCalls },
    { role: 'tool', content: '0 m', tool_call_id: 'call_0' },
    { role: 'tool', content: '1 m', tool_call_id: 'call_1' },
  ])
  t.equal(next.response.output_text, 'In Dover.')
  const { response: silent } = await respond(asked, { kind: 'done', media: [], toolCalls })
  t.same(
    silent.output.map(({ type }) => type),
    ['function_call', 'function_call'],
  )
})

t.test('an answer in JSON is parsed by the client', async t => {
  const schema = { type: 'object', properties: { metres: { type: 'number' } }, required: ['metres'] }
  const format = { type: 'json_schema', name: 'tide', schema, strict: true } as const
  const asked = client.responses.parse<Request, { metres: number }>({ model, input: 'How high?', text: { format } })
  const { job, end } = await nextCall()
  end(said('{"metres":4}'))
  t.equal((await asked).output_text, '{"metres":4}')
  t.same(job.input['response_format'], { type: 'json_schema', json_schema: { name: 'tide', schema, strict: true } })
  const { input } = await respond({ input: 'How high?', text: { format: { type: 'json_object' } } }, said('{}'))
  t.same(input['response_format'], { type: 'json_object' })
})

t.test('an answer that was cut off is incomplete', async t => {
  const { response } = await respond({ input: 'hello', max_output_tokens: 16 }, {
    ...said('Once upon'),
    finish: 'length',
  } as ProviderOutcome)
  t.match(response, {
    ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output_text: 'Once upon' },
    output: [{ status: 'incomplete' }],
  })
})

t.test('what cannot be honoured is refused with its place and costs nothing', async t => {
  const user = { role: 'user', content: 'hello' }
  const part = (part: object) => ({ input: [user, { role: 'user', content: [part] }] })
  const image = { type: 'input_image', image_url: PNG_URL }
  const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' }
  const result = { type: 'function_call_output', call_id: 'call_1', output: '1' }
  const cases: [request: object, param: string, message: RegExp][] = [
    [{ store: true }, 'store', /stores no responses/],
    [{ background: true }, 'background', /stores no responses/],
    [{ previous_response_id: 'resp_1' }, 'previous_response_id', /stores no responses/],
    [{ conversation: { id: 'conv_1' } }, 'conversation', /stores no responses/],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt', /stores no responses, conversations or prompts/],
    [{ include: ['message.output_text.logprobs'] }, 'include', /must be .+, since/],
    [{ truncation: 'auto' }, 'truncation', /must be .+, since/],
    [{ top_logprobs: 2 }, 'top_logprobs', /must be .+, since/],
    [{ service_tier: 'flex' }, 'service_tier', /must be .+, since/],
    [{ temperature: 0 }, 'temperature', /must be .+, since/],
    [{ moderation: { model: 'm' } }, 'moderation', /unknown/],
    [{ context_management: [{ type: 'compaction' }] }, 'context_management', /must be .+, since/],
    [{ prompt_cache_retention: '24h' }, 'prompt_cache_retention', /must be .+, since/],
    [{ messages: [user] }, 'messages', /means the same as input/],
    [{ reasoning: { effort: 'huge' } }, 'reasoning.effort', /must be one of none, low/],
    [{ reasoning_effort: 'huge' }, 'reasoning_effort', /must be one of none, low/],
    [{ reasoning: { effort: 'low' }, reasoning_effort: 'low' }, 'reasoning_effort', /the same as reasoning\/effort/],
    [{ reasoning: { summary: 'auto' } }, 'reasoning.summary', /not supported/],
    [{ reasoning: { mode: 'pro' } }, 'reasoning.mode', /not supported/],
    [{ text: { verbosity: 'huge' } }, 'text.verbosity', /must be one of low/],
    [{ text: { stop: 'x' } }, 'text.stop', /not supported/],
    [{ text: { format: '' } }, 'text.format.type', /required/],
    [{ text: { format: { type: 'grammar' } } }, 'text.format.type', /must be one of text/],
    [{ text: { format: { type: 'json_schema', name: 'a b', schema: {} } } }, 'text.format.name', /pattern|must/],
    [
      { stream: true, stream_options: { include_obfuscation: true } },
      'stream_options.include_obfuscation',
      /supported/,
    ],
    [{ max_output_tokens: 1 }, 'max_output_tokens', /must be at least 16/],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', /must be function/],
    [{ tools: [tide, { ...tide, name: 'a b' }] }, 'tools[1].name', /must/],
    [{ tools: [{ ...tide, allowed_callers: ['programmatic'] }] }, 'tools[0].allowed_callers', /unknown/],
    [{ tools: [tide], tool_choice: 'maybe' }, 'tool_choice', /must/],
    [{ tools: [tide], tool_choice: { type: 'function', name: 'a b' } }, 'tool_choice.name', /must/],
    [{ tools: [tide], tool_choice: { type: 'allowed_tools' } }, 'tool_choice.type', /must be function/],
    [{ input: undefined }, 'input', /required/],
    [{ input: [] }, 'input', /at least 1 item/],
    [{ input: '' }, 'input', /must not be empty/],
    [{ instructions: 7 }, 'instructions', /string/],
    [{ instructions: 'Be brief.', input: [{ ...user, content: '' }] }, 'input[0].content', /must not be empty/],
    [{ input: ['hello'] }, 'input[0].role', /must be one of user, assistant/],
    [{ input: [user, { ...user, role: 'tool' }] }, 'input[1].role', /must be one of user, assistant/],
    [{ input: [{ role: 'user' }] }, 'input[0].content', /a text or a list of parts/],
    [{ input: [{ ...user, name: 'Ada' }] }, 'input[0].name', /not supported/],
    [{ input: [user, { type: 'item_reference', id: 'msg_1' }] }, 'input[1]', /send store: false, and the item itself/],
    [{ input: [user, { type: 'reasoning', summary: [] }] }, 'input[1]', /leave it out/],
    [{ input: [user, { type: 'web_search_call' }] }, 'input[1]', /must be an item of the type message/],
    [{ input: [{ type: 'constructor' }] }, 'input[0]', /must be an item of the type message/],
    [part({ type: 'input_file', file_id: 'file_1' }), 'input[1].content[0]', /must be a part of the type input_text/],
    [part({ type: 'text', text: 'hello' }), 'input[1].content[0]', /must be a part of the type input_text/],
    [part({ type: 'input_text', text: '' }), 'input[1].content[0].text', /must/],
    [part({ type: 'input_text' }), 'input[1].content[0].text', /required/],
    [
      part({ type: 'input_text', text: 'a', prompt_cache_breakpoint: {} }),
      'input[1].content[0].prompt_cache_breakpoint',
      /supported/,
    ],
    [part({ ...image, detail: 'high' }), 'input[1].content[0].detail', /not supported/],
    [part({ type: 'input_image', file_id: 'file_1' }), 'input[1].content[0].file_id', /not supported/],
    [part({ type: 'input_image' }), 'input[1].content[0].image_url', /required/],
    [part({ type: 'input_image', image_url: 'data:,' }), 'input[1].content[0].image_url', /^(?!.*messages)/],
    [
      part({ type: 'input_image', image_url: 'http://127.0.0.1/a.png' }),
      'input[1].content[0].image_url',
      /^(?!.*messages)/,
    ],
    [{ input: [{ role: 'assistant', content: [image] }] }, 'input[0].content[0].type', /must be text/],
    [{ input: [user, { ...call, name: 'a b' }] }, 'input[1].name', /must/],
    [{ input: [user, { ...call, call_id: undefined }] }, 'input[1].call_id', /required/],
    [{ input: [user, { ...call, namespace: 'n' }] }, 'input[1].namespace', /unknown/],
    [{ input: [user, call, { ...call, arguments: 7 }, result] }, 'input[2].arguments', /string/],
    [{ input: [user, call, { ...result, call_id: undefined }] }, 'input[2].call_id', /required/],
    [{ input: [user, call, { ...result, output: [image] }] }, 'input[2].output[0].type', /must be text/],
    [{ input: [user, call, { ...result, output: null }] }, 'input[2].output', /a text or a list of parts/],
    [{ model: 'nano-banana-2' }, 'model', /output_type text, not image/],
    [{ metadata: { note: 'x'.repeat(20_000) } }, 'metadata', /larger than 16384 bytes/],
    [{ input: Array(4_001).fill({ role: 'user', content: 'x' }) }, 'input', /at most 4000 items/],
  ]
  for (const [request, param, message] of cases) {
    const error = await refused(request)
    t.ok(error instanceof OpenAI.BadRequestError, param)
    t.match(error, { status: 400, type: 'invalid_request_error', param, message }, param)
    t.equal(error.headers?.get('X-Should-Retry'), 'false')
  }
})

t.test('errors have the types of OpenAI', async t => {
  t.match(await refused({}, await openAccount(service, { credits: 0.001 })), {
    ...{ status: 402, type: 'insufficient_quota', code: 'insufficient_credits', param: null },
  })
  t.match(await refused({}, await openAccount(service, { scope: 'read' })), { status: 403, type: 'permission_error' })
  t.match(await refused({ model: 'gpt-none' }), { status: 404, code: 'model_not_found' })
  const failed = client.responses.create({ model, input: 'hello' })
  ;(await nextCall()).end({ kind: 'failed', code: 'content_rejected', message: 'messages/0/content: no' })
  await t.rejects(failed, { status: 400, code: 'content_rejected', message: /input: no/ })
})

t.test('a model with one prompt takes one message', async t => {
  const tester = await openAccount(testing, { tester: true })
  const { client } = openAiClient(tester)
  const { output_text, usage } = await client.responses.create({ model: 'sandbox', input: 'hi' })
  t.equal(output_text, 'Sandbox heard: hi')
  t.match(usage, { input_tokens: 0, total_tokens: 0, credits: 1 })
  t.match(await refused({ model: 'sandbox', instructions: 'Be brief.' }, tester), {
    ...{ param: 'input', message: /Invalid body: \/input must be one message of the user/ },
  })
})

t.test('a repetition by the client gets the run of the first request, and a failed run is repeated', async t => {
  const tester = await openAccount(testing, { tester: true })
  const { client } = openAiClient(tester, { timeout: 400 })
  const { id } = await client.responses.create({ model: 'sandbox', input: 'hi', delay_ms: 700 } as Request)
  t.same(
    (await runsOf(tester)).map(run => run.run_id),
    [id],
  )
  t.equal(await tester.balance(), 99)
  const { client: patient, sent } = openAiClient(tester, { maxRetries: 1 })
  const failing = { model: 'sandbox', input: 'hi', outcome: 'provider_error' } as Request
  await t.rejects(patient.responses.create(failing), { status: 502, code: 'provider_error', type: 'api_error' })
  t.equal(sent.length, 2)
  t.equal(await tester.balance(), 99)
})

t.test('a repeated idempotency key gets the same response', async t => {
  const options = { headers: { 'Idempotency-Key': 'order-17' } }
  const asked = client.responses.create({ model, input: 'once' }, options)
  ;(await nextCall()).end(said('Yes.'))
  t.same(await client.responses.create({ model, input: 'once' }, options), await asked)
  t.equal(sent.at(-1)?.headers.get('Idempotent-Replayed'), 'true')
})

t.test('a test run is free, and says so', async t => {
  const testKey = await openKey(testing, await openAccount(testing), { livemode: false })
  const { usage } = await openAiClient(testKey).client.responses.create({ model, input: 'hello' })
  t.match(usage, { credits: 0 })
})
