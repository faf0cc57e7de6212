import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { createAnthropicProvider } from '../../../src/adapters/provider/anthropic/provider.ts'
import { createFalProvider } from '../../../src/adapters/provider/fal/provider.ts'
import { createGoogleProvider } from '../../../src/adapters/provider/google/provider.ts'
import { createOpenAiProvider } from '../../../src/adapters/provider/openai/provider.ts'
import { createReplicateProvider } from '../../../src/adapters/provider/replicate/provider.ts'
import type { Done, Provider } from '../../../src/ports/provider.ts'
import { anthropicKey, startAnthropic } from '../../support/vendors/anthropic.ts'
import { bytesOf } from '../../support/vendors/arriving-file.ts'
import { COMPLETED, FAL_KEY, startFal } from '../../support/vendors/fal.ts'
import {
  generated,
  googleKey,
  interaction,
  startGoogle,
  videoDone,
  videoOperation,
} from '../../support/vendors/google.ts'
import { KEY, startOpenAi } from '../../support/vendors/openai.ts'
import { REPLICATE_KEY, startReplicate } from '../../support/vendors/replicate.ts'
import { accepted, acceptedJob, vendorJob } from '../../support/vendors/vendor-job.ts'
import { deadAddress, useFile, vendorDependencies } from '../../support/vendors/vendor-parts.ts'
import { reply, type VendorRequest } from '../../support/vendors/vendor-server.ts'

const { signal } = new AbortController()

const bytes = randomBytes(500_000)
const base64 = bytes.toString('base64')
const dataUrl = `data:image/png;base64,${base64}`
const picture = { fileUrl: 'https://example.com/picture.png' }

/** Clients read and write no longer JSON than this. */
const SHORT = 10_000

const open = async <Stub extends { url: string }>(
  t: Test,
  start: (t: Test) => Promise<Stub>,
  create: (dependencies: ReturnType<typeof vendorDependencies>) => Provider,
  key: string,
) => {
  const stub = await start(t)
  return {
    stub,
    provider: create({
      ...vendorDependencies(t, stub.url, key),
      useInputMedia: useFile({ mimeType: 'image/png', bytes }),
    }),
  }
}

const poll = async (provider: Provider, job: Parameters<NonNullable<Provider['poll']>>[0]) =>
  provider.poll?.(job, signal)

/** Each vendor's way of returning a file in an answer. */
const answers: Record<string, (t: Test) => Promise<() => Promise<unknown>>> = {
  'OpenAI, generated': async t => {
    const { stub, provider } = await open(t, startOpenAi, createOpenAiProvider, KEY)
    stub.answer = response => reply(response, 200, { data: [{ b64_json: base64 }] })
    const parameters = { prompt: 'a fox' }
    return () => provider.submit(vendorJob({ model: 'gpt-x', operation: 'images.generate', parameters }), signal)
  },
  'OpenAI, edited': async t => {
    const { stub, provider } = await open(t, startOpenAi, createOpenAiProvider, KEY)
    stub.answer = response => reply(response, 200, { data: [{ b64_json: base64 }] })
    const parameters = { prompt: 'a fox', image: picture }
    return () => provider.submit(vendorJob({ model: 'gpt-x', operation: 'images.edit', parameters }), signal)
  },
  'Google, content': async t => {
    const content = generated([{ inlineData: { mimeType: 'image/png', data: base64 } }])
    const { provider } = await open(
      t,
      t => startGoogle(t, (_, response) => reply(response, 200, content)),
      createGoogleProvider,
      googleKey,
    )
    const parameters = { contents: 'A lighthouse' }
    return () => provider.submit(vendorJob({ model: 'm', operation: 'generateContent.image', parameters }), signal)
  },
  'Google, an interaction': async t => {
    const made = interaction('completed', [{ type: 'image', mime_type: 'image/png', data: base64 }])
    const { provider } = await open(
      t,
      t => startGoogle(t, (_, response) => reply(response, 200, made)),
      createGoogleProvider,
      googleKey,
    )
    const job = vendorJob({ model: 'm', operation: 'interactions', parameters: { input: 'A lighthouse' } })
    return async () => [await provider.submit(job, signal), await poll(provider, acceptedJob(job, made.id))][1]
  },
  'Google, a video': async t => {
    const made = videoDone({ generatedSamples: [{ video: { encodedVideo: base64, mimeType: 'image/png' } }] })
    const { provider } = await open(
      t,
      t => startGoogle(t, (_, response) => reply(response, 200, made)),
      createGoogleProvider,
      googleKey,
    )
    const job = vendorJob({ model: 'm', operation: 'generateVideos', parameters: {} })
    return () => poll(provider, acceptedJob(job, videoOperation))
  },
  'fal, a data: URL': async t => {
    const { stub, provider } = await open(t, startFal, createFalProvider, FAL_KEY)
    stub.job = { states: [COMPLETED], result: { status: 200, body: { images: [{ url: dataUrl }] } } }
    const job = await accepted(
      provider,
      vendorJob({ model: 'fal-ai/flux-pro/v1.1', operation: 'queue', parameters: { prompt: 'a fox' } }),
    )
    return () => poll(provider, job)
  },
  'Replicate, a data: URL': async t => {
    const { stub, provider } = await open(t, startReplicate, createReplicateProvider, REPLICATE_KEY)
    stub.states = [{ status: 'succeeded', output: [dataUrl] }]
    const job = await accepted(
      provider,
      vendorJob({ model: stub.models[0] ?? '', operation: 'predictions', parameters: { prompt: 'a fox' } }),
    )
    return () => poll(provider, job)
  },
}

for (const [name, prepare] of Object.entries(answers))
  t.test(`a file in an answer: ${name}`, async t => {
    const call = await prepare(t)
    const parsed = t.capture(JSON, 'parse', JSON.parse)
    const { media } = (await call()) as Done
    t.ok(media[0] && 'file' in media[0] && bytesOf(media[0]).equals(bytes))
    t.same(
      parsed().filter(({ args: [text] }) => String(text).length > SHORT),
      [],
    )
  })

/** Each vendor's way of taking a file in a request, and where it is there. */
const requests: Record<
  string,
  (t: Test) => Promise<{ requests: VendorRequest[]; call: () => Promise<unknown>; sent: string }>
> = {
  'Google, content': async t => {
    const { stub, provider } = await open(
      t,
      t => startGoogle(t, (_, response) => reply(response, 200, generated([{ text: 'Yes.' }]))),
      createGoogleProvider,
      googleKey,
    )
    const job = vendorJob({
      model: 'm',
      operation: 'generateContent.text',
      parameters: { contents: 'What is this?', image: picture },
    })
    return { ...stub, call: () => provider.submit(job, signal), sent: `"data":"${base64}"` }
  },
  'Google, an interaction': async t => {
    const answer = interaction('completed', [{ type: 'image', mime_type: 'image/png', data: 'AAAA' }])
    const { stub, provider } = await open(
      t,
      t => startGoogle(t, (_, response) => reply(response, 200, answer)),
      createGoogleProvider,
      googleKey,
    )
    const job = vendorJob({ model: 'm', operation: 'interactions', parameters: { input: 'A song', image: picture } })
    return { ...stub, call: () => provider.submit(job, signal), sent: `"data":"${base64}"` }
  },
  'Google, a video': async t => {
    const { stub, provider } = await open(
      t,
      t => startGoogle(t, (_, response) => reply(response, 200, { name: videoOperation })),
      createGoogleProvider,
      googleKey,
    )
    const job = vendorJob({ model: 'm', operation: 'generateVideos', parameters: { prompt: 'A fox', image: picture } })
    return { ...stub, call: () => provider.submit(job, signal), sent: `"bytesBase64Encoded":"${base64}"` }
  },
  Anthropic: async t => {
    const { stub, provider } = await open(t, startAnthropic, createAnthropicProvider, anthropicKey)
    const job = vendorJob({
      model: 'm',
      operation: 'messages',
      parameters: { prompt: 'What is this?', max_tokens: 9, image: picture },
    })
    return { ...stub, call: () => provider.submit(job, signal), sent: `"data":"${base64}"` }
  },
  'fal, a data: URL': async t => {
    const { stub, provider } = await open(t, startFal, createFalProvider, FAL_KEY)
    const job = vendorJob({
      model: 'fal-ai/flux-pro/v1.1',
      operation: 'queue',
      parameters: { prompt: 'a fox', image_url: picture },
    })
    return { ...stub, call: () => provider.submit(job, signal), sent: `"image_url":"${dataUrl}"` }
  },
}

for (const [name, prepare] of Object.entries(requests))
  t.test(`a file in a request: ${name}`, async t => {
    const { call, requests, sent } = await prepare(t)
    const written = t.capture(JSON, 'stringify', JSON.stringify)
    t.match(await call(), { kind: /done|submitted/ })
    t.same(
      written().filter(result => 'returned' in result && String(result.returned).length > SHORT),
      [],
    )
    const [{ headers, body } = {}, ...others] = requests
    t.ok(body?.includes(sent))
    t.equal(headers?.['content-length'], String(body?.byteLength))
    t.notOk(headers?.['transfer-encoding'])
    t.same(others, [])
  })

t.test('a file in a request to nobody: the vendor has not accepted it', async t => {
  const dependencies = {
    ...vendorDependencies(t, await deadAddress(), anthropicKey),
    useInputMedia: useFile({ mimeType: 'image/png', bytes }),
  }
  const job = vendorJob({
    model: 'm',
    operation: 'messages',
    parameters: { prompt: 'What is this?', max_tokens: 9, image: picture },
  })
  t.match(await createAnthropicProvider(dependencies).submit(job, signal), {
    retryable: true,
    fault: { kind: 'unreachable' },
  })
})

t.test('a text that looks like a file stays a text', async t => {
  for (const text of [base64, dataUrl]) {
    const answer = generated([{ text }])
    const { provider } = await open(
      t,
      t => startGoogle(t, (_, response) => reply(response, 200, answer)),
      createGoogleProvider,
      googleKey,
    )
    const job = vendorJob({ model: 'm', operation: 'generateContent.text', parameters: { contents: 'Write Base64' } })
    t.match(await provider.submit(job, signal), { kind: 'done', text })
  }
})
