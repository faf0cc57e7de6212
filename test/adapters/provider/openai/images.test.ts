import t from 'tap'
import type { Done } from '../../../../src/ports/provider.ts'
import { bytesOf } from '../../../support/vendors/arriving-file.ts'
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
  t.equal(headers['content-type'], 'application/json')
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
  const [{ headers, body } = {}] = server.requests
  t.equal(headers?.['content-length'], String(body?.byteLength))
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

t.test('what is no image is left out, and what was made is known', async t => {
  const { server, submit } = await open(t)
  const good = { b64_json: PNG.toString('base64') }
  const one = { kind: 'done', media: [{ mimeType: 'image/png', bytes: PNG }] }
  const none = { kind: 'failed', code: 'provider_error', message: 'The provider returned no image.' }
  const cases = [
    { data: [], made: none },
    { data: undefined, made: none },
    { data: [null, { b64_json: '' }], made: none },
    { data: [good, { b64_json: '' }], made: one },
    { data: [good, { url: 'file:///etc/passwd' }], made: one },
    { data: [good, null], made: one },
  ]
  for (const { data, made } of cases) {
    server.answer = response => reply(response, 200, { created: 1, data, usage: { output_tokens: 5 } })
    const work = { units: { output_tokens: 5 } }
    t.same(await submit('images.generate', { prompt: 'a fox', n: 2 }), { ...made, work })
  }
})

t.test('a data: URL in place of Base64 or of an address is a file, whatever its size', async t => {
  const { server, submit } = await open(t)
  for (const bytes of [PNG, Buffer.concat([PNG, Buffer.alloc(100_000, 'x')])]) {
    const dataUrl = `data:image/png;base64,${bytes.toString('base64')}`
    for (const image of [{ b64_json: dataUrl }, { url: dataUrl }]) {
      server.answer = response => reply(response, 200, { data: [image] })
      const { media: [file] = [] } = (await submit('images.generate', { prompt: 'a fox' })) as Done
      t.equal(file?.mimeType, 'image/png')
      t.ok(bytes.equals(bytesOf(file)), `${bytes.length} bytes`)
    }
  }
})

t.test('an unknown operation sends nothing', async t => {
  const { server, submit } = await open(t)
  await t.rejects(submit('images.vary', {}), /no operation images.vary/)
  t.same(server.requests, [])
})
