import t from 'tap'
import { completion } from '../../../support/vendors/openai.ts'
import { reply } from '../../../support/vendors/vendor-server.ts'
import { open } from './support.ts'

const work = {
  version: 'gpt-x-2026-04-01',
  units: {
    ...{ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
    ...{ 'prompt_tokens_details.cached_tokens': 3, 'prompt_tokens_details.audio_tokens': 0 },
    'completion_tokens_details.reasoning_tokens': 4,
  },
}

t.test('a prompt is answered, with the version of the model and the used tokens', async t => {
  const { server, submit } = await open(t)
  const parameters = { max_completion_tokens: 1024, reasoning_effort: 'low', verbosity: 'low' }
  const answer = await submit('chat.completions', { prompt: 'Hello?', instructions: 'Be brief.', ...parameters })
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello?' },
  ]
  t.same(server.bodies, [{ messages, ...parameters, model: 'gpt-x' }])
  t.same(answer, { kind: 'done', media: [], text: `You said ${JSON.stringify(messages)}`, work })
})

t.test('empty instructions are no message, and messages may be given as they are', async t => {
  const { server, submit } = await open(t)
  await submit('chat.completions', { prompt: 'Hello?', instructions: '' })
  const messages = [{ role: 'user', content: 'Hello!' }]
  await submit('chat.completions', { messages })
  t.same(server.bodies, [
    { messages: [{ role: 'user', content: 'Hello?' }], model: 'gpt-x' },
    { messages, model: 'gpt-x' },
  ])
})

t.test('compatible servers leave out whatever is not needed', async t => {
  const { server, submit } = await open(t)
  server.answer = response => reply(response, 200, { choices: [{ message: { content: 'Hi.' } }] })
  t.same(await submit('chat.completions', { prompt: 'Hello?' }), { kind: 'done', media: [], text: 'Hi.' })
})

t.test('answers without text are failures, whose cost is known', async t => {
  const { server, submit } = await open(t)
  const rejected = { code: 'content_rejected', message: 'The content policy of the provider forbids this.' }
  const empty = { code: 'provider_error', message: 'The provider returned no text.' }
  const long = /whole length of the answer for thinking/
  const cases = [
    { answer: completion({ content: 'I was abo' }, 'content_filter'), expected: rejected },
    { answer: completion({ content: null, refusal: 'I’m sorry.' }), expected: rejected },
    { answer: completion({ content: '' }, 'length'), expected: { code: 'provider_error', message: long } },
    { answer: completion({ content: null }), expected: empty },
    { answer: completion({ content: 7 }), expected: empty },
    { answer: { ...completion({}), choices: [] }, expected: empty },
    { answer: { ...completion({}), choices: undefined }, expected: empty },
    { answer: { ...completion({}), choices: [null] }, expected: empty },
  ]
  for (const { answer, expected } of cases) {
    server.answer = response => reply(response, 200, answer)
    t.match(await submit('chat.completions', { prompt: 'Hello?' }), { kind: 'failed', ...expected, work })
  }
})
