import OpenAI from 'openai'
import t from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import type { ProviderOutcome } from '../../../src/ports/provider.ts'
import { said } from '../../support/speaking-provider.ts'
import { endedRun, spokenService, streamSent } from '../../support/spoken-service.ts'

const { service, nextCall, calls, open } = await spokenService(t)

const hello = { model: 'gpt-6-1-terra', input: 'Why?' }
const streamed = { ...hello, stream: true } as const
type Event = OpenAI.Responses.ResponseStreamEvent

const all = async (events: AsyncIterable<Event>): Promise<Event[]> => {
  const read: Event[] = []
  for await (const event of events) read.push(event)
  return read
}

const toolCall = (index: number) => ({
  ...{ id: `call_${index}`, type: 'function' as const },
  function: { name: 'read_tide', arguments: `{"port":${index}}` },
})

t.test('a response streams to the official client as events with numbers', async t => {
  const { customer, client } = await open()
  const asked = client.responses.create(streamed).withResponse()
  const call = await nextCall()
  call.say('A ledger ')
  const { data, response } = await asked
  const events: Event[] = []
  for await (const event of data) {
    events.push(event)
    if (event.type !== 'response.output_text.delta' || event.delta !== 'A ledger ') continue
    call.say('remembers.')
    call.end({ ...said('A ledger remembers.'), toolCalls: [toolCall(0), toolCall(1)] } as ProviderOutcome)
  }
  const run = await endedRun(customer)
  t.equal(response.headers.get('Tollgate-Run'), run.run_id)
  const called = [
    ...['response.output_item.added', 'response.function_call_arguments.delta'],
    ...['response.function_call_arguments.done', 'response.output_item.done'],
  ]
  t.same(
    events.map(({ type }) => type),
    [
      ...['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added'],
      ...['response.output_text.delta', 'response.output_text.delta', 'response.output_text.done'],
      ...['response.content_part.done', 'response.output_item.done', ...called, ...called, 'response.completed'],
    ],
  )
  t.same(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, index) => index),
  )
  const suffix = run.run_id.slice('run_'.length)
  const text = { item_id: `msg_${suffix}`, output_index: 0, content_index: 0 }
  const part = { type: 'output_text', text: 'A ledger remembers.', annotations: [] }
  const first = { item_id: `fc_${suffix}_0`, output_index: 1 }
  const { name, arguments: given } = toolCall(0).function
  t.match(events, [
    { response: { id: run.run_id, status: 'in_progress', output: [], usage: null, model: 'gpt-6-1-terra' } },
    { response: { id: run.run_id, status: 'in_progress' } },
    { output_index: 0, item: { id: `msg_${suffix}`, status: 'in_progress', role: 'assistant', content: [] } },
    { ...text, part: { type: 'output_text', text: '', annotations: [] } },
    { ...text, delta: 'A ledger ', logprobs: [] },
    { ...text, delta: 'remembers.' },
    { ...text, text: 'A ledger remembers.' },
    { ...text, part },
    { output_index: 0, item: { id: `msg_${suffix}`, status: 'completed', content: [part] } },
    { output_index: 1, item: { id: first.item_id, call_id: 'call_0', name, arguments: '', status: 'in_progress' } },
    { ...first, delta: given },
    { ...first, name, arguments: given },
    { output_index: 1, item: { id: first.item_id, call_id: 'call_0', arguments: given, status: 'completed' } },
    ...[{ output_index: 2 }, { output_index: 2 }, { output_index: 2 }, { output_index: 2 }],
    {
      response: {
        ...{ id: run.run_id, status: 'completed', incomplete_details: null },
        output: [{ type: 'message', content: [part] }, { call_id: 'call_0' }, { call_id: 'call_1' }],
        usage: {
          ...{ input_tokens: run.usage?.input_tokens, output_tokens: run.usage?.output_tokens, run_id: run.run_id },
          credits: Math.round(run.credits_charged * 1e6 - (run.credits_released ?? 0) * 1e6) / 1e6,
        },
      },
    },
  ] as object)
})

t.test('each event has a line with its type, and the stream ends with the last', async t => {
  const { customer } = await open()
  const asked = streamSent(customer, '/v1/responses', streamed)
  ;(await nextCall()).end(said('Yes.'))
  const events = (await asked).trimEnd().split('\n\n')
  for (const event of events) {
    const [, named, data = ''] = /^event: (.+)\ndata: (.+)$/.exec(event) ?? []
    t.equal(JSON.parse(data).type, named)
  }
  t.match(events.at(-1), /^event: response.completed\n/)
})

t.test('the helper of the client puts the response together', async t => {
  const { client } = await open()
  const stream = client.responses.stream(hello)
  const call = await nextCall()
  for (const piece of ['one ', 'two ', 'three']) call.say(piece)
  call.end({ ...said('one two three'), finish: 'length' } as ProviderOutcome)
  t.match(await stream.finalResponse(), {
    ...{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output_text: 'one two three' },
    output: [{ status: 'incomplete' }],
  })
})

t.test('an answer without text has only its calls', async t => {
  const { client } = await open()
  const calling = client.responses.create(streamed)
  ;(await nextCall()).end({ kind: 'done', media: [], toolCalls: [toolCall(0)] })
  const events = await all(await calling)
  t.match(events[2], { type: 'response.output_item.added', output_index: 0, item: { type: 'function_call' } })
  t.match(events.at(-1), { type: 'response.completed', response: { output: [{ call_id: 'call_0' }] } })
})

t.test('a failure before there is text is an error with its status, and after it an error of the stream', async t => {
  const { customer, client } = await open()
  const early = client.responses.create(streamed)
  ;(await nextCall()).end({ kind: 'failed', code: 'content_rejected', message: 'no' })
  await t.rejects(early, { status: 400, code: 'content_rejected', type: 'invalid_request_error' })
  const late = client.responses.create(streamed)
  const call = await nextCall()
  call.say('A led')
  const read = async () => {
    for await (const { type } of await late)
      if (type === 'response.output_text.delta')
        call.end({ kind: 'failed', code: 'provider_error', message: 'It broke off.' })
  }
  await t.rejects(read(), { message: 'It broke off.', code: 'provider_error' })
  t.match(await endedRun(customer), { status: 'failed', error: { code: 'provider_error' } })
  t.equal(await customer.balance(), 100)
})

t.test('a stream that fails ends with the events error and response.failed', async t => {
  const { customer } = await open()
  const asked = streamSent(customer, '/v1/responses', streamed)
  const call = await nextCall()
  call.say('A led')
  call.end({ kind: 'failed', code: 'provider_error', message: 'It broke off.' })
  const events = (await asked).matchAll(/^data: (.+)$/gm)
  const error = { code: 'provider_error', message: 'It broke off.' }
  t.match([...events].map(([, data = '']) => JSON.parse(data)).slice(-2), [
    { type: 'error', ...error, param: null, error: { ...error, type: 'api_error', param: null } },
    { type: 'response.failed', response: { status: 'failed', error, output: [], usage: null } },
  ])
})

t.test('a client that leaves a stream pays for what it got', async t => {
  const { customer, client } = await open()
  const asked = client.responses.create(streamed)
  const call = await nextCall()
  call.say('A ledger ')
  for await (const { type } of await asked) if (type === 'response.output_text.delta') break
  const run = await endedRun(customer)
  t.match(run, { status: 'completed', finish_reason: 'cancelled', output: { text: 'A ledger ' } })
  t.ok(run.credits_charged > (run.credits_released ?? 0))
  t.equal(await customer.balance(), (1e8 - run.credits_charged * 1e6 + (run.credits_released ?? 0) * 1e6) / 1e6)
})

t.test('a client that loses the connection before there is text, and repeats, gets a new run', async t => {
  const { customer } = await open()
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: customer.apiKey, maxRetries: 1, timeout: 300 })
  const asked = client.responses.create(streamed)
  await nextCall()
  const second = await nextCall()
  second.say('Yes.')
  second.end(said('Yes.'))
  t.match((await all(await asked)).at(-1), { response: { output_text: undefined, status: 'completed' } })
  const { data } = (await customer.send<RunList>('/v1/runs')).body
  t.match(data, [{ status: 'completed' }, { status: 'failed', error: { code: 'cancelled' } }])
  t.equal(calls.length, 0)
})

t.test('with an idempotency key, a repetition streams the same response', async t => {
  const { customer, client } = await open()
  const options = { headers: { 'Idempotency-Key': 'once' } }
  const asked = client.responses.create(streamed, options)
  const call = await nextCall()
  call.say('A ledger ')
  for await (const { type } of await asked) if (type === 'response.output_text.delta') break
  call.end(said('A ledger remembers.'))
  await endedRun(customer)
  const events = await all(await client.responses.create(streamed, options))
  t.match(events.at(-1), { response: { output: [{ content: [{ text: 'A ledger remembers.' }] }] } })
  t.equal((await customer.send<RunList>('/v1/runs')).body.data.length, 1)
})
