import t from 'tap'
import { operatorOf } from '../../support/operator.ts'
import { openAccount, startService } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = await temporaryFolder(t)
const customer = await openAccount(await startService(t, { folder }))
const operator = operatorOf(folder)

const model = 'gpt-6-1-terra'
const spoken = (text: string) => [{ role: 'user', content: text }]

t.test('audit explain: tells the tool calls of an answer', async t => {
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }]
  const input = { messages: spoken('Look it up.'), tools, tool_choice: 'required' }
  const { body } = await customer.run({ model, input })
  t.match(await operator.text(t, 'audit', 'explain', body.run_id), /\nResult\n {2}tool call: look_up \{\}\n/)
  t.match(await operator.json(t, 'audit', 'explain', body.run_id), {
    output: { text: null, tool_calls: body.output?.tool_calls, finish_reason: null },
  })
  t.match(await operator.text(t, 'audit', 'replay', customer.accountId), 'completed: 1 tool call')
})

t.test('audit explain: tells that an answer was cut off', async t => {
  const input = { prompt: 'A long story', max_output_tokens: 16 }
  const { body } = await customer.run({ model, input })
  const text = await operator.text(t, 'audit', 'explain', body.run_id)
  t.match(text, 'The text ends early: the answer had reached its longest length.')
  t.match(await operator.json(t, 'audit', 'explain', body.run_id), { output: { finish_reason: 'length' } })
})

t.test('audit explain: tells the file that holds a long conversation', async t => {
  const { body } = await customer.run({ model, input: { messages: spoken('word '.repeat(20_000)) } })
  const text = (await operator.text(t, 'audit', 'explain', body.run_id)).replaceAll(/\s+/g, ' ')
  t.match(text, /messages: 100,0\d\d bytes of JSON in outputs\/\w+\.json, sha256 [\da-f]{64} /)
})
