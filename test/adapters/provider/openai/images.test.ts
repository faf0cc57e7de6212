import t from 'tap'
import { PICTURE, PICTURE_URL } from '../../../support/vendors/jobs.ts'
import { PNG } from '../../../support/vendors/openai.ts'
import { reply } from '../../../support/vendors/vendor-server.ts'
import { open } from './support.ts'

const units = {
  ...{ total_tokens: 322, input_tokens: 50, output_tokens: 272 },
  'input_tokens_details.text_tokens': 10,
  'input_tokens_details.image_tokens': 40,
}

t.test('images come back as bytes, with the used tokens', async t => {
  const { server, submit } = await open(t)
  const parameters = { prompt: 'a fox', n: 2, size: '1024x1024', output_format: 'webp', moderation: 'low' }
  const media = { mimeType: 'image/webp', bytes: PNG }
  t.same(await submit('images.generate', parameters), { kind: 'done', media: [media, media], work: { units } })
  t.same(server.bodies, [{ model: 'gpt-x', ...parameters }])
  const [{ method = '', path = '', headers = {} } = {}] = server.requests
  t.same([method, path], ['POST', '/v1/images/generations'])
  t.same(
    Object.keys(headers).filter(name => name.startsWith('x-stainless') || name.startsWith('openai')),
    [],
  )
})

t.test('an edit sends the file as a form', async t => {
  const { server, submit } = await open(t)
  const image = { fileUrl: PICTURE_URL }
  const answer = await submit('images.edit', { prompt: 'a coat', image, n: 1, input_fidelity: 'high' })
  t.match(answer, { kind: 'done', media: [{ mimeType: 'image/png', bytes: PNG }] })
  const sent = { name: 'file.png', type: 'image/png', bytes: PICTURE }
  t.same(server.bodies, [{ model: 'gpt-x', prompt: 'a coat', n: '1', input_fidelity: 'high', image: sent }])
  await submit('images.edit', { prompt: 'a coat', image: [image] })
  t.same(server.bodies[1], { model: 'gpt-x', prompt: 'a coat', 'image[]': sent })
})

t.test('a file that is unusable is the fault of the input, and nothing is sent', async t => {
  const { server, submit } = await open(t)
  const answer = await submit('images.edit', { prompt: 'a coat', image: { fileUrl: 'https://example.com/none' } })
  t.same(answer, {
    kind: 'failed',
    code: 'invalid_input',
    message: 'image_url: There is nothing at that address.',
  })
  t.same(server.requests, [])
})

t.test('a compatible server may return addresses', async t => {
  const { server, submit } = await open(t)
  server.answer = response => reply(response, 200, { created: 1, data: [{ url: 'http://10.0.0.1/a.png' }] })
  t.same(await submit('images.generate', { prompt: 'a fox' }), {
    kind: 'done',
    media: [{ mimeType: 'image/png', url: 'http://10.0.0.1/a.png' }],
  })
})

t.test('fewer images than wanted are a failure, whose cost is known', async t => {
  const { server, submit } = await open(t)
  const good = { b64_json: PNG.toString('base64') }
  const cases = [
    { data: [], made: 0 },
    { data: undefined, made: 0 },
    { data: [good, { b64_json: '' }], made: 1 },
    { data: [good, { url: 'file:///etc/passwd' }], made: 1 },
    { data: [good, null], made: 1 },
  ]
  for (const { data, made } of cases) {
    server.answer = response => reply(response, 200, { created: 1, data, usage: { output_tokens: 5 } })
    t.same(await submit('images.generate', { prompt: 'a fox', n: 2 }), {
      kind: 'failed',
      code: 'provider_error',
      message: `The provider made ${made} of 2 images.`,
      work: { units: { output_tokens: 5 } },
    })
  }
})

t.test('an unknown operation sends nothing', async t => {
  const { server, submit } = await open(t)
  await t.rejects(submit('images.vary', {}), /no operation images.vary/)
  t.same(server.requests, [])
})
