import t from 'tap'
import { openAiClient } from '../../support/openai-client.ts'
import { retiring, retiringBindings } from '../../support/retiring.ts'
import { instantProvider, openAccount, startService } from '../../support/service.ts'
import { offer } from '../../support/vendor-families.ts'

const service = await startService(t, {
  providers: { vendor: instantProvider },
  bindingsOf: retiringBindings('vendor', '2999-01-06'),
})
await offer(service.core, ...retiring)
const { client } = openAiClient(await openAccount(service), { maxRetries: 0 })

t.test('OpenAI’s client lists the models and gets one of them', async t => {
  const listed = []
  for await (const model of client.models.list()) listed.push(model)
  t.ok(listed.length > 30)
  for (const { id, created, owned_by } of listed)
    t.match({ id, created, owned_by }, { created: 0, owned_by: 'tollgate' })
  const chat = listed.find(({ id }) => id === 'gpt-6-1-terra')
  t.same(await client.models.retrieve('gpt-6-1-terra'), chat)
  t.match(chat, { object: 'model_family', output_type: 'text' })
  await t.rejects(client.models.retrieve('gpt-0'), { status: 404, code: 'model_not_found' })
})

t.test('a model whose retirement is announced has the day', async t => {
  t.match(await client.models.retrieve('lumen'), { shutdown_date: '2999-01-06' })
  for (const lasting of ['beacon', 'torch'])
    t.notOk('shutdown_date' in (await client.models.retrieve(lasting)), lasting)
})
