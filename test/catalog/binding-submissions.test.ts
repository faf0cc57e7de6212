import t from 'tap'
import { createAnthropicProvider } from '../../src/adapters/provider/anthropic/provider.ts'
import { createElevenLabsProvider } from '../../src/adapters/provider/elevenlabs/provider.ts'
import { createGoogleProvider } from '../../src/adapters/provider/google/provider.ts'
import { createOpenAiProvider } from '../../src/adapters/provider/openai/provider.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { anthropicKey, startAnthropic } from '../support/vendors/anthropic.ts'
import { KEY as elevenLabsKey, startElevenLabs, VOICE } from '../support/vendors/elevenlabs.ts'
import { generated, googleKey, inlinePicture, interaction, startGoogle } from '../support/vendors/google.ts'
import { KEY as openAiKey, startOpenAi } from '../support/vendors/openai.ts'
import { vendorJob } from '../support/vendors/vendor-job.ts'
import { useFile, vendorDependencies } from '../support/vendors/vendor-parts.ts'
import { reply, type VendorServer } from '../support/vendors/vendor-server.ts'
import { requestsOf } from './binding-requests.ts'

const picture = useFile({ mimeType: 'image/png', bytes: Buffer.from('a picture') })

const [openAi, anthropic, google, elevenLabs] = await Promise.all([
  startOpenAi(t),
  startAnthropic(t),
  startGoogle(t, ({ path }, response) =>
    reply(
      response,
      200,
      path.endsWith('/interactions') ? interaction('queued') : generated([{ text: 'Yes.' }, inlinePicture('a cat')]),
    ),
  ),
  startElevenLabs(t),
])

const dependencies = ({ url }: VendorServer, key: string) => ({
  ...vendorDependencies(t, url, key),
  useInputMedia: picture,
})

/** Each stub refuses a request that its vendor's published schema or the types of its client do not allow. */
const vendors: [name: 'openai' | 'anthropic' | 'google' | 'elevenlabs', provider: Provider][] = [
  ['openai', createOpenAiProvider(dependencies(openAi, openAiKey))],
  ['anthropic', createAnthropicProvider(dependencies(anthropic, anthropicKey))],
  ['google', createGoogleProvider(dependencies(google, googleKey))],
  ['elevenlabs', createElevenLabsProvider(dependencies(elevenLabs, elevenLabsKey))],
]

for (const [name, provider] of vendors)
  t.test(`${name}: the request of each binding is in order, whatever is chosen`, async t => {
    const requests = requestsOf(name)
    t.ok(requests.length > 10)
    for (const request of requests) {
      // The stub knows one voice.
      const voice = name === 'elevenlabs' && { voice_id: VOICE }
      const upstream = { ...request, parameters: { ...request.parameters, ...voice } }
      const answer = await provider.submit(vendorJob(upstream), new AbortController().signal)
      t.not(
        answer.kind,
        'failed',
        `${JSON.stringify(answer).slice(0, 300)} for ${JSON.stringify(upstream).slice(0, 300)}`,
      )
    }
  })
