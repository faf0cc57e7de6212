import t from 'tap'
import type { Quote, Run } from '../../schemas/api/run.ts'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'
import { call, connect, post, refusal, request, revisions } from './support.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })
const { model, input } = picture

for (const revision of revisions) {
  t.test(`${revision}: arguments of null are none`, async t => {
    const customer = await openAccount(service)
    const sent = request(revision, 'tools/call', { name: 'get_balance', arguments: null })
    t.match((await post(customer, sent)).message, { result: { structuredContent: { credits_balance: 100 } } })
    const needed = request(revision, 'tools/call', { name: 'get_run', arguments: null })
    t.match((await post(customer, needed)).message, { result: { isError: true } })
  })

  t.test(`${revision}: an empty address that may be missing is missing`, async t => {
    const client = await connect(t, await openAccount(service), revision)
    const args = { model, input: { ...input, image_url: '' }, webhook_url: '' }
    t.match((await call<Quote>(client, 'quote_run', args)).body, { endpoint: 'nano-banana-2-t2i' })
    t.match((await call<Run>(client, 'run_model', args)).body, { endpoint: 'nano-banana-2-t2i' })
    const edit = { model: 'nano-banana-2-i2i', input: { ...input, image_url: '' } }
    t.match(await refusal(client, 'quote_run', edit), {
      errors: [{ path: '/input/image_url', message: 'is required' }],
    })
    t.match(await refusal(client, 'quote_run', { model, input, label: '' }), { errors: [{ path: '/label' }] })
  })

  t.test(`${revision}: an object may be written as text`, async t => {
    const client = await connect(t, await openAccount(service), revision)
    const quoted = (input: unknown) => call<Quote>(client, 'quote_run', { model, input })
    t.match((await quoted(JSON.stringify({ ...input, num_images: 2 }))).body, { credits: 20 })
    const { body } = await call<Run>(client, 'run_model', { ...picture, metadata: '{"order":"17"}' })
    t.same(body.metadata, { order: '17' })
    for (const text of ['', 'a lighthouse', '"x"', '[]', '{"prompt":', '5'])
      t.match(await refusal(client, 'quote_run', { model, input: text }), {
        errors: [{ path: '/input', message: 'must be an object' }],
      })
    t.match(await refusal(client, 'quote_run', { model, input: '{"prompt":"x","seed":12345678901234567890}' }), {
      code: 'invalid_request',
      errors: [{ path: '/input/seed', message: /would be rounded/ }],
    })
  })
}
