import { createOpenAI } from '@ai-sdk/openai'
import { APICallError, generateObject, generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai'
import t from 'tap'
import type { Run, RunList } from '../../../schemas/api/run.ts'
import type { Message } from '../../../schemas/conversation.ts'
import type { ProviderOutcome } from '../../../src/ports/provider.ts'
import { picture } from '../../support/sample-files.ts'
import { type Customer, openAccount, startService } from '../../support/service.ts'
import { said, speakingProvider } from '../../support/speaking-provider.ts'

const { provider, nextCall } = speakingProvider()
const spoken = await startService(t, { providers: { sandbox: provider } })
const sandbox = await startService(t)

/** The default model of the provider is the Responses API. */
const open = async (service = spoken) => {
  const customer = await openAccount(service)
  const openai = createOpenAI({ baseURL: `${service.url}/v1`, apiKey: customer.apiKey })
  return { customer, openai, model: openai('gpt-6-1-terra') }
}

const lastRun = async (customer: Customer) => (await customer.send<RunList>('/v1/runs')).body.data[0] as Run

const port = jsonSchema<{ port: string }>({
  ...{ type: 'object', properties: { port: { type: 'string' } } },
  ...{ required: ['port'], additionalProperties: false },
})

t.test('generateText with instructions and an image', async t => {
  const { customer, model } = await open()
  const asked = generateText({
    ...{ model, system: 'Be brief.', maxOutputTokens: 100, providerOptions: { openai: { reasoningEffort: 'low' } } },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', image: await picture('png') },
        ],
      },
    ],
  })
  const { job, end } = await nextCall()
  end(said('A grey square.'))
  const { text, finishReason, usage, response, warnings } = await asked
  const run = await lastRun(customer)
  t.match({ text, finishReason, warnings }, { text: 'A grey square.', finishReason: 'stop', warnings: [] })
  t.match(usage, { inputTokens: run.usage?.input_tokens, outputTokens: run.usage?.output_tokens })
  t.equal(response.id, run.run_id)
  t.match(job.input, {
    ...{ max_output_tokens: 100, reasoning_effort: 'low' },
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: /^data:image\/png;base64,/ } },
        ],
      },
    ],
  })
})

t.test('streamText', async t => {
  const { customer, model } = await open()
  const { textStream, finishReason, usage } = streamText({ model, prompt: 'Why?' })
  const pieces: string[] = []
  const call = await nextCall()
  call.say('A ledger ')
  for await (const piece of textStream) {
    pieces.push(piece)
    if (pieces.length > 1) continue
    call.say('remembers.')
    call.end({ ...said('A ledger remembers.'), finish: 'length' } as ProviderOutcome)
  }
  t.same(pieces, ['A ledger ', 'remembers.'])
  t.equal(await finishReason, 'length')
  const run = await lastRun(customer)
  t.match(await usage, { inputTokens: run.usage?.input_tokens, outputTokens: run.usage?.output_tokens })
})

t.test('a stream that fails is an error', async t => {
  const { model } = await open()
  const errors: unknown[] = []
  const { textStream, finishReason } = streamText({
    ...{ model, prompt: 'Why?', maxRetries: 0 },
    onError: ({ error }) => void errors.push(error),
  })
  const call = await nextCall()
  call.say('A led')
  for await (const _ of textStream) call.end({ kind: 'failed', code: 'provider_error', message: 'It broke off.' })
  t.equal(await finishReason, 'error')
  t.equal(errors.length, 1)
  t.match(JSON.stringify(errors), /It broke off/)
})

for (const way of ['generateText', 'streamText'] as const)
  t.test(`${way} calls tools, and sends their results back`, async t => {
    const { model } = await open()
    const request = {
      ...{ model, prompt: 'How high is the tide?', stopWhen: stepCountIs(2) },
      tools: { read_tide: tool({ inputSchema: port, execute: async ({ port }) => ({ port, metres: 4 }) }) },
    }
    const text = way === 'generateText' ? generateText(request).then(({ text }) => text) : streamText(request).text
    const first = await nextCall()
    t.match(first.job.input['tools'], [{ type: 'function', function: { name: 'read_tide' } }])
    const toolCall = (id: string, port: string) => ({
      ...{ id, type: 'function' as const, function: { name: 'read_tide', arguments: JSON.stringify({ port }) } },
    })
    const toolCalls = [toolCall('call_1', 'Ostend'), toolCall('call_2', 'Dover')]
    if (way === 'streamText') first.say('I shall look.')
    first.end({ ...said('I shall look.'), toolCalls } as ProviderOutcome)
    const second = await nextCall()
    t.match((second.job.input['messages'] as Message[]).slice(1), [
      { role: 'assistant', content: [{ type: 'text', text: 'I shall look.' }], tool_calls: toolCalls },
      { role: 'tool', content: '{"port":"Ostend","metres":4}', tool_call_id: 'call_1' },
      { role: 'tool', content: '{"port":"Dover","metres":4}', tool_call_id: 'call_2' },
    ])
    second.end(said('4 m.'))
    t.equal(await text, '4 m.')
  })

t.test('other models than those of OpenAI need store: false once an answer has text and calls', async t => {
  const { openai } = await open()
  const request = {
    ...{ model: openai('claude-haiku-4-5'), prompt: 'How high is the tide?', stopWhen: stepCountIs(2) },
    tools: { read_tide: tool({ inputSchema: port, execute: async () => 4 }) },
  }
  const toolCalls = [
    { id: 'call_1', type: 'function', function: { name: 'read_tide', arguments: '{"port":"Ostend"}' } },
  ]
  const looking = { ...said('I shall look.'), toolCalls } as ProviderOutcome
  const stored = generateText(request)
  ;(await nextCall()).end(looking)
  const error = await stored.catch(error => error)
  t.ok(APICallError.isInstance(error))
  t.match(error, { statusCode: 400, message: /\/input\/1 refers to a stored item.*send store: false/ })
  const unstored = generateText({ ...request, providerOptions: { openai: { store: false } } })
  ;(await nextCall()).end(looking)
  ;(await nextCall()).end(said('4 m.'))
  t.equal((await unstored).text, '4 m.')
})

t.test('the sandbox calls a required tool, and answers with a required object', async t => {
  const { model } = await open(sandbox)
  const { toolCalls, finishReason } = await generateText({
    ...{ model, prompt: 'How high is the tide?', toolChoice: 'required' },
    tools: { read_tide: tool({ inputSchema: port }) },
  })
  t.match(toolCalls, [{ toolName: 'read_tide', input: { port: 'sandbox' } }])
  t.equal(finishReason, 'tool-calls')
  const { object } = await generateObject({ model, schema: port, prompt: 'Which port?' })
  t.same(object, { port: 'sandbox' })
})
