import OpenAI from 'openai'
import t from 'tap'
import type { RunList } from '../../../schemas/api/run.ts'
import { said } from '../../support/speaking-provider.ts'
import { endedRun, spokenService, streamSent } from '../../support/spoken-service.ts'

const { service, nextCall, calls, open } = await spokenService(t)

const hello = { model: 'gpt-6-1-terra', messages: [{ role: 'user' as const, content: 'Why?' }] }
const streamed = {
  ...hello,
  stream: true,
  stream_options: { include_usage: true, include_obfuscation: false },
} as const

t.test('a chat streams to the official client, and its last chunk has the usage', async t => {
  const { customer, client } = await open()
  const asked = client.chat.completions.create(streamed).withResponse()
  const call = await nextCall()
  t.match(call.job.input, { messages: hello.messages })
  call.say('A ledger ')
  const { data, response } = await asked
  const chunks = []
  for await (const chunk of data) {
    chunks.push(chunk)
    if (chunks.length > 1) continue
    call.say('remembers.')
    call.end(said('A ledger remembers.'))
  }
  const run = await endedRun(customer)
  t.equal(response.headers.get('Tollgate-Run'), run.run_id)
  t.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), 'A ledger remembers.')
  const [first] = chunks
  t.match(first, {
    ...{ id: run.run_id, object: 'chat.completion.chunk', model: 'gpt-6-1-terra', usage: null },
    choices: [{ index: 0, delta: { role: 'assistant', content: 'A ledger ' }, finish_reason: null }],
  })
  t.match(chunks.at(-2), { choices: [{ delta: {}, finish_reason: 'stop' }], usage: null })
  const { usage, choices } = chunks.at(-1) ?? {}
  t.same(choices, [])
  const { input_tokens = 0, output_tokens = 0 } = run.usage ?? {}
  t.match(usage, {
    ...{ prompt_tokens: input_tokens, completion_tokens: output_tokens, run_id: run.run_id },
    credits: Math.round(run.credits_charged * 1e6 - (run.credits_released ?? 0) * 1e6) / 1e6,
  })
})

t.test('the OpenAPI document has the stream', async t => {
  const { customer } = await open()
  const asked = streamSent(customer, '/v1/chat/completions', streamed)
  ;(await nextCall()).end(said('Yes.'))
  t.match(await asked, /^data: \{.*data: \[DONE\]\n\n$/s)
})

t.test('the helper of the client puts the answer together', async t => {
  const { client } = await open()
  const stream = client.chat.completions.stream(hello)
  const call = await nextCall()
  for (const piece of ['one ', 'two ', 'three']) call.say(piece)
  call.end({ ...said('one two three'), finish: 'length' } as ReturnType<typeof said>)
  t.match(await stream.finalChatCompletion(), {
    choices: [{ finish_reason: 'length', message: { role: 'assistant', content: 'one two three' } }],
  })
})

t.test('a failure before there is text is an error with its status, and after it an error of the stream', async t => {
  const { customer, client } = await open()
  const early = client.chat.completions.create(streamed)
  ;(await nextCall()).end({ kind: 'failed', code: 'content_rejected', message: 'no' })
  await t.rejects(early, { status: 400, code: 'content_rejected', type: 'invalid_request_error' })
  const late = client.chat.completions.create(streamed)
  const call = await nextCall()
  call.say('A led')
  const read = async () => {
    for await (const { choices } of await late)
      if (choices[0]?.delta.content) call.end({ kind: 'failed', code: 'provider_error', message: 'It broke off.' })
  }
  await t.rejects(read(), { message: 'It broke off.', code: 'provider_error' })
  t.match(await endedRun(customer), { status: 'failed', error: { code: 'provider_error' } })
  t.equal(await customer.balance(), 100)
})

t.test('a client that leaves a stream pays for what it got', async t => {
  const { customer, client } = await open()
  const asked = client.chat.completions.create(streamed)
  const call = await nextCall()
  call.say('A ledger ')
  const stream = await asked
  for await (const { choices } of stream) if (choices[0]?.delta.content) break
  t.match(await endedRun(customer), { status: 'completed', finish_reason: 'cancelled', output: { text: 'A ledger ' } })
})

t.test('a client that loses the connection before there is text, and repeats, gets a new run', async t => {
  const { customer } = await open()
  const client = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: customer.apiKey, maxRetries: 1, timeout: 300 })
  const asked = client.chat.completions.create(streamed)
  await nextCall()
  // The client gives up, and repeats its request with the header of a retry.
  const second = await nextCall()
  second.say('Yes.')
  second.end(said('Yes.'))
  let text = ''
  for await (const { choices } of await asked) text += choices[0]?.delta.content ?? ''
  t.equal(text, 'Yes.')
  const { data } = (await customer.send<RunList>('/v1/runs')).body
  t.match(data, [{ status: 'completed' }, { status: 'failed', error: { code: 'cancelled' } }])
  t.equal(calls.length, 0)
})

t.test('with an idempotency key, a run goes on without its client, and a repetition streams its text', async t => {
  const { customer, client } = await open()
  const options = { headers: { 'Idempotency-Key': 'once' } }
  const asked = client.chat.completions.create(streamed, options)
  const call = await nextCall()
  call.say('A ledger ')
  for await (const { choices } of await asked) if (choices[0]?.delta.content) break
  call.end(said('A ledger remembers.'))
  t.match(await endedRun(customer), { status: 'completed', output: { text: 'A ledger remembers.' } })
  let text = ''
  for await (const { choices } of await client.chat.completions.create(streamed, options))
    text += choices[0]?.delta.content ?? ''
  t.equal(text, 'A ledger remembers.')
  t.equal((await customer.send<RunList>('/v1/runs')).body.data.length, 1)
})
