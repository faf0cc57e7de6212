import t from 'tap'
import { SOUND } from '../../../support/vendors/openai.ts'
import { reply } from '../../../support/vendors/vendor-server.ts'
import { open } from './support.ts'

const speech = { input: 'Hello.', voice: 'alloy' }

t.test('speech comes back as bytes of the wanted type', async t => {
  const { server, submit } = await open(t)
  for (const [format, mimeType] of [
    [undefined, 'audio/mpeg'],
    ['mp3', 'audio/mpeg'],
    ['opus', 'audio/ogg'],
    ['wav', 'audio/wav'],
    ['flac', 'audio/flac'],
  ]) {
    const parameters = { ...speech, ...(format && { response_format: format }) }
    const bytes = Uint8Array.from(SOUND)
    t.same(await submit('audio.speech', parameters), { kind: 'done', media: [{ mimeType, bytes }] })
    t.same(server.bodies.at(-1), { ...parameters, model: 'gpt-x' })
  }
})

t.test('an answer that is no sound is a failure', async t => {
  const { server, submit } = await open(t)
  for (const answer of [{ url: 'https://example.com' }, '<html>Welcome</html>']) {
    server.answer = response => reply(response, 200, answer)
    t.match(await submit('audio.speech', speech), { kind: 'failed', code: 'provider_error', message: /no sound/ })
  }
  server.answer = response => response.writeHead(200, { 'Content-Type': 'audio/mpeg' }).end()
  t.match(await submit('audio.speech', speech), { kind: 'failed', code: 'provider_error', message: /no sound/ })
})
