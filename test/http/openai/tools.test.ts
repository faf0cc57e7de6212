import OpenAI from 'openai'
import t, { type Test } from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import { openAccount, type Service, startService } from '../../support/service.ts'
import { anthropicKey, anthropicMessage, startAnthropic } from '../../support/vendors/anthropic.ts'
import { generated, googleKey, startGoogle } from '../../support/vendors/google.ts'
import { completion, KEY, PNG, startOpenAi } from '../../support/vendors/openai.ts'
import { type Handler, reply, type VendorRequest } from '../../support/vendors/vendor-server.ts'

type Create = OpenAI.ChatCompletionCreateParamsNonStreaming

/** A vendor with the form in which it calls a tool and answers. */
interface Vendor {
  model: string
  start(t: Test, answer: Handler): Promise<{ url: string; requests: VendorRequest[] }>
  environment(url: string): Record<string, string>
  /** The same answer as one document and as events. */
  called: { whole: object; events: object[] }
  said(text: string): object
  /** What the vendor must get of the second turn. */
  second: object
  /** What the vendor must get for a schema of the answer, and for an image. */
  form: object
  image: object
}

const READ = { port: 'Ostend' }
const read = JSON.stringify(READ)

const openAi: Vendor = {
  model: 'gpt-6-1-terra',
  start: async (t, answer) => {
    const server = await startOpenAi(t)
    server.answer = (response, request) => answer(request, response)
    return server
  },
  environment: url => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: url }),
  called: {
    whole: completion(
      {
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_tide', arguments: read } }],
      },
      'tool_calls',
    ),
    events: [
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'read_tide', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: read.slice(0, 5) } }] },
      { tool_calls: [{ index: 0, function: { arguments: read.slice(5) } }] },
    ]
      .map(delta => ({ choices: [{ index: 0, delta, finish_reason: null }] }) as object)
      .concat([
        { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
        { choices: [], usage: completion({}).usage },
      ]),
  },
  said: content => completion({ content }),
  second: {
    messages: [
      { role: 'user', content: 'How high is the tide?' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_tide' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: '4.2' },
    ],
    tools: [{ type: 'function', function: { name: 'read_tide' } }],
    tool_choice: 'auto',
  },
  form: { response_format: { type: 'json_schema', json_schema: { name: 'tide', schema: { type: 'object' } } } },
  image: {
    messages: [
      {
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
        ],
      },
    ],
  },
}

const anthropic: Vendor = {
  model: 'claude-haiku-4-5',
  start: startAnthropic,
  environment: url => ({ ANTHROPIC_API_KEY: anthropicKey, ANTHROPIC_BASE_URL: url }),
  called: {
    whole: anthropicMessage({
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'read_tide', input: READ }],
      stop_reason: 'tool_use',
    }),
    events: [
      { type: 'message_start', message: anthropicMessage({ content: [] }) },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'read_tide' } },
      ...[read.slice(0, 5), read.slice(5)].map(partial_json => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json },
      })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ],
  },
  said: text => anthropicMessage({ content: [{ type: 'text', text }] }),
  second: {
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'How high is the tide?' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read_tide', input: READ }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '4.2' }] },
    ],
    tools: [{ name: 'read_tide', input_schema: { type: 'object', required: ['port'] } }],
    tool_choice: { type: 'auto' },
  },
  form: { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
  image: {
    messages: [
      {
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } },
        ],
      },
    ],
  },
}

const google: Vendor = {
  model: 'gemini-3-flash',
  start: startGoogle,
  environment: url => ({ GOOGLE_API_KEY: googleKey, GOOGLE_BASE_URL: url }),
  called: {
    whole: generated([{ functionCall: { id: 'c1', name: 'read_tide', args: READ }, thoughtSignature: 'AbC=' }]),
    events: [generated([{ functionCall: { id: 'c1', name: 'read_tide', args: READ }, thoughtSignature: 'AbC=' }])],
  },
  said: text => generated([{ text }]),
  second: {
    contents: [
      { role: 'user', parts: [{ text: 'How high is the tide?' }] },
      { role: 'model', parts: [{ functionCall: { name: 'read_tide', args: READ } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'read_tide', response: { output: '4.2' } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'read_tide', parametersJsonSchema: { required: ['port'] } }] }],
    toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
  },
  form: { generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } } },
  image: {
    contents: [
      { parts: [{ text: 'What is this?' }, { inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } }] },
    ],
  },
}

const tools: Create['tools'] = [
  {
    type: 'function',
    function: {
      name: 'read_tide',
      description: 'The height of the tide in a port.',
      parameters: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
    },
  },
]

const bodyOf = (request: VendorRequest | undefined) => JSON.parse(request?.body.toString() ?? '{}')

const answerWith =
  ({ whole, events }: Vendor['called']): Handler =>
  ({ body, path }, response) => {
    if (!JSON.parse(body.toString()).stream && !path.includes('alt=sse')) return reply(response, 200, whole)
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    response.end(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join(''))
  }

const started = async (t: Test, vendor: Vendor) => {
  let answer: Handler = () => undefined
  const server = await vendor.start(t, (request, response) => answer(request, response))
  const service: Service = await startService(t, { environment: vendor.environment(server.url) })
  const customer = await openAccount(service)
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: customer.apiKey, maxRetries: 0 })
  const last = () => bodyOf(server.requests.at(-1))
  return { service, customer, client, last, answerBy: (handler: Handler) => (answer = handler) }
}

const refusal = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => undefined,
    error => error,
  )

for (const vendor of [openAi, anthropic, google]) {
  const { model } = vendor
  const hello: Create = { model, messages: [{ role: 'user', content: 'How high is the tide?' }], tools }

  t.test(`${model}: a tool is called, and its result answered`, async t => {
    const { customer, client, last, answerBy } = await started(t, vendor)
    answerBy(answerWith(vendor.called))
    const asked = await client.chat.completions.create(hello)
    const [choice] = asked.choices
    const calls = choice?.message.tool_calls ?? []
    t.match(choice, {
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [{ type: 'function', function: { name: 'read_tide', arguments: read } }] },
    })
    t.equal(choice?.message.tool_calls?.length, 1)
    const { data } = (await customer.send<RunList>('/v1/runs')).body
    t.match(data, [{ status: 'completed', output: { tool_calls: calls } }])
    t.notOk(data[0]?.output?.text)

    const streamed = await client.chat.completions.stream({ ...hello, stream: true }).finalChatCompletion()
    t.match(streamed.choices, [
      { finish_reason: 'tool_calls', message: { tool_calls: [{ function: { arguments: read } }] } },
    ])
    t.equal(streamed.choices[0]?.message.tool_calls?.length, 1)

    answerBy((_, response) => reply(response, 200, vendor.said('4.2 metres.')))
    const [call] = calls
    const second = await client.chat.completions.create({
      ...hello,
      messages: [
        ...hello.messages,
        choice?.message as OpenAI.ChatCompletionMessage,
        { role: 'tool', tool_call_id: call?.id ?? '', content: '4.2' },
      ],
      tool_choice: 'auto',
    })
    t.equal(second.choices[0]?.message.content, '4.2 metres.')
    t.match(last(), vendor.second)
  })

  t.test(`${model}: the client chooses the tool and the form of the answer`, async t => {
    const { client, last, answerBy } = await started(t, vendor)
    answerBy((_, response) => reply(response, 200, vendor.said('{"metres":4.2}')))
    const choices: NonNullable<Create['tool_choice']>[] = [
      'none',
      'required',
      { type: 'function', function: { name: 'read_tide' } },
    ]
    const seen = new Set<string>()
    for (const tool_choice of choices) {
      await client.chat.completions.create({ ...hello, tool_choice })
      const { tool_choice: sent, toolConfig } = last()
      seen.add(JSON.stringify(sent ?? toolConfig))
    }
    t.equal(seen.size, 3)
    await client.chat.completions.create({
      model,
      messages: hello.messages,
      response_format: { type: 'json_schema', json_schema: { name: 'tide', schema: { type: 'object' } } },
    })
    t.match(last(), vendor.form)
    const parallel = client.chat.completions.create({ ...hello, parallel_tool_calls: false })
    if (vendor === google) t.match(await refusal(parallel), { status: 400, param: 'parallel_tool_calls' })
    else {
      await parallel
      t.match(JSON.stringify(last()), /"parallel_tool_calls":false|"disable_parallel_tool_use":true/)
    }
  })

  t.test(`${model}: images are sent as files, and reserve what they can cost`, async t => {
    const { service, customer, client, last, answerBy } = await started(t, vendor)
    answerBy((_, response) => reply(response, 200, vendor.said('A pixel.')))
    const form = new FormData()
    form.append('file', new Blob([PNG]), 'pixel.png')
    const uploadTo = async ({ apiKey }: { apiKey: string }) => {
      const headers = { Authorization: `Bearer ${apiKey}` }
      const sent = await fetch(`${service.url}/v1/uploads`, { method: 'POST', headers, body: form })
      return ((await sent.json()) as { url: string }).url
    }
    const inline = `data:image/png;base64,${PNG.toString('base64')}`
    const balance = await customer.balance()
    for (const url of [inline, await uploadTo(customer)]) {
      const ask = (...parts: OpenAI.ChatCompletionContentPart[]): Create => ({
        model,
        max_tokens: 16,
        messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, ...parts] }],
      })
      const image = { type: 'image_url', image_url: { url, detail: 'auto' } } as const
      await client.chat.completions.create(ask(image))
      t.match(last(), vendor.image)
      await client.chat.completions.create(ask())
      const [without, withImage] = (await customer.send<RunList>('/v1/runs')).body.data
      t.ok(Number(withImage?.credits_charged) > 2 * Number(without?.credits_charged))
      t.match(await refusal(client.chat.completions.create(ask(...Array(201).fill(image)))), { status: 400 })
    }
    const paid = await customer.balance()
    t.ok(paid < balance)
    const foreign = { type: 'image_url', image_url: { url: await uploadTo(await openAccount(service)) } } as const
    t.match(
      await refusal(client.chat.completions.create({ model, messages: [{ role: 'user', content: [foreign] }] })),
      { status: 400, param: 'messages[0].content[0].image_url.url', message: /does not exist/ },
      'a file of another account is treated as absent',
    )
    t.equal(await customer.balance(), paid)
  })
}
