import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, experimental_generateSpeech, generateImage, generateText, streamText } from 'ai'
import t from 'tap'
import type { Run, RunList } from '../../../schemas/api/run.ts'
import { picture, tinySound } from '../../support/sample-files.ts'
import { type Customer, instantProvider, openAccount, startService } from '../../support/service.ts'
import { said, speakingProvider } from '../../support/speaking-provider.ts'
import { until } from '../../support/until.ts'
import { MEDIA } from '../../support/vendor.ts'

// https://ai-sdk.dev: the SDK logs warnings on models that it does not know.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })

const { provider, nextCall, calls } = speakingProvider()
const texts = await startService(t, { providers: { sandbox: provider } })
const media = await startService(t, { providers: { sandbox: instantProvider } })
const png = await picture('png')

const at = ({ url, apiKey }: Pick<Customer, 'url' | 'apiKey'>) => ({ baseURL: `${url}/v1`, apiKey })
const compatible = (owner: Pick<Customer, 'url' | 'apiKey'>) =>
  createOpenAICompatible({ name: 'tollgate', includeUsage: true, ...at(owner) })
const openAi = (owner: Customer) => createOpenAI(at(owner))

const clients = {
  '@ai-sdk/openai-compatible': (owner: Customer, model: string) => compatible(owner)(model),
  '@ai-sdk/openai': (owner: Customer, model: string) => openAi(owner).chat(model),
}

const runsOf = async (owner: Customer) => (await owner.send<RunList>('/v1/runs?include=input')).body.data
const ended = async (owner: Customer): Promise<Run> => {
  await until('the run has ended', async () => ['completed', 'failed'].includes((await runsOf(owner))[0]?.status ?? ''))
  return (await runsOf(owner))[0] as Run
}

/** What a run has cost. */
const costOf = ({ credits_charged, credits_released = 0, credits_refunded = 0 }: Run) =>
  Math.round((credits_charged - credits_released - credits_refunded) * 1e6) / 1e6

for (const [name, chat] of Object.entries(clients)) {
  t.test(`${name}: generateText`, async t => {
    const owner = await openAccount(texts)
    const asked = generateText({
      model: chat(owner, 'gpt-6-1-terra'),
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Why?' },
        { role: 'assistant', content: [{ type: 'text', text: 'Why what?' }] },
        { role: 'user', content: [{ type: 'text', text: 'Why is the sky blue?' }] },
      ],
      maxOutputTokens: 100,
    })
    const call = await nextCall()
    t.match(call.job.input, {
      max_output_tokens: 100,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Why?' },
        { role: 'assistant', content: 'Why what?' },
        { role: 'user', content: 'Why is the sky blue?' },
      ],
    })
    call.end(said('It scatters.'))
    const { text, finishReason, usage } = await asked
    const run = await ended(owner)
    t.match({ text, finishReason }, { text: 'It scatters.', finishReason: 'stop' })
    t.match(usage, { inputTokens: run.usage?.['input_tokens'], outputTokens: run.usage?.['output_tokens'] })
    t.equal(await owner.balance(), Math.round((100 - costOf(run)) * 1e6) / 1e6)
  })

  t.test(`${name}: streamText`, async t => {
    const owner = await openAccount(texts)
    const { textStream, usage, finishReason } = streamText({ model: chat(owner, 'gpt-6-1-terra'), prompt: 'Why?' })
    const pieces: string[] = []
    const read = async () => {
      for await (const piece of textStream) pieces.push(piece)
    }
    const reading = read()
    const call = await nextCall()
    call.say('It ')
    await until('the first piece arrives', () => pieces.length === 1)
    call.say('scatters.')
    call.end({ ...said('It scatters.'), finish: 'length' } as ReturnType<typeof said>)
    await reading
    const run = await ended(owner)
    t.same(pieces, ['It ', 'scatters.'])
    t.equal(await finishReason, 'length')
    t.match(await usage, { inputTokens: run.usage?.['input_tokens'], outputTokens: run.usage?.['output_tokens'] })
    t.equal((await runsOf(owner)).length, 1)
  })

  t.test(`${name}: an aborted streamText is charged for what was sent`, async t => {
    const owner = await openAccount(texts)
    const left = new AbortController()
    const model = chat(owner, 'gpt-6-1-terra')
    const { textStream } = streamText({ model, prompt: 'Why?', abortSignal: left.signal, maxOutputTokens: 5000 })
    const read = async () => {
      for await (const piece of textStream) if (piece) left.abort()
    }
    const reading = read()
    const call = await nextCall()
    call.say('It scatters')
    await reading
    const run = await ended(owner)
    t.match(run, { status: 'completed', finish_reason: 'cancelled', output: { text: 'It scatters' } })
    t.ok(call.signal.aborted, 'the provider is told')
    t.ok(costOf(run) > 0 && costOf(run) < run.credits_charged / 2, `${costOf(run)} of ${run.credits_charged}`)
    t.equal(await owner.balance(), Math.round((100 - costOf(run)) * 1e6) / 1e6)
    t.equal((await runsOf(owner)).length, 1)
  })

  t.test(`${name}: a failure after some text is an error of the stream, and is refunded`, async t => {
    const owner = await openAccount(texts)
    const errors: unknown[] = []
    const { textStream } = streamText({
      model: chat(owner, 'gpt-6-1-terra'),
      prompt: 'Why?',
      onError: ({ error }) => void errors.push(error),
    })
    const read = async () => {
      for await (const _ of textStream) call.end({ kind: 'failed', code: 'provider_error', message: 'It broke off.' })
    }
    const reading = read()
    const call = await nextCall()
    call.say('It ')
    await reading
    t.match(JSON.stringify(errors) + String(errors), /It broke off/)
    t.match(await ended(owner), { status: 'failed', error: { code: 'provider_error' } })
    t.equal(await owner.balance(), 100)
  })

  t.test(`${name}: errors tell what to do, and are not repeated`, async t => {
    const [owner, poor] = [await openAccount(texts), await openAccount(texts, { credits: 0.000001 })]
    const cases: [asked: Promise<unknown>, status: number, error: object][] = [
      [
        generateText({ model: chat(poor, 'gpt-6-1-terra'), prompt: 'Why?' }),
        402,
        { code: 'insufficient_credits', type: 'insufficient_quota', message: /credits/ },
      ],
      [
        generateText({ model: chat(owner, 'gemini-3-flash'), prompt: 'Why?', frequencyPenalty: 1 }),
        400,
        { code: 'invalid_request', param: 'frequency_penalty', message: /frequency_penalty/ },
      ],
      [
        generateText({ model: chat(owner, 'gpt-0'), prompt: 'Why?' }),
        404,
        { code: 'model_not_found', message: /gpt-0/ },
      ],
    ]
    for (const [asked, status, error] of cases) {
      const thrown = (await asked.catch(fault => fault)) as APICallError
      t.ok(APICallError.isInstance(thrown), 'no RetryError')
      t.match(thrown, { statusCode: status, isRetryable: false, message: Object(error).message })
      t.match(JSON.parse(thrown.responseBody ?? ''), { error })
    }
    t.equal(calls.length, 0)
    t.equal(await owner.balance(), 100)
  })
}

t.test('a run that fails is repeated by the SDK, and only one is charged', async t => {
  const owner = await openAccount(texts)
  const asked = generateText({ model: compatible(owner)('gpt-6-1-terra'), prompt: 'Why?' })
  ;(await nextCall()).end({ kind: 'failed', code: 'provider_error', message: 'no' })
  ;(await nextCall()).end(said('It scatters.'))
  t.equal((await asked).text, 'It scatters.')
  const [run] = await runsOf(owner)
  t.equal((await runsOf(owner)).length, 2)
  t.equal(await owner.balance(), Math.round((100 - costOf(run as Run)) * 1e6) / 1e6)
})

t.test('generateImage', async t => {
  const owner = await openAccount(media, { credits: 1000 })
  const models = {
    compatible: compatible(owner).imageModel('nano-banana-2'),
    openAi: openAi(owner).image('nano-banana-2'),
    'openAi, a model of OpenAI': openAi(owner).image('gpt-image-2-6'),
  }
  for (const [name, model] of Object.entries(models)) {
    const { images } = await generateImage({ model, prompt: 'a lighthouse', n: 2, size: '1024x1024' })
    t.same(
      images.map(({ uint8Array }) => Buffer.from(uint8Array)),
      [MEDIA, MEDIA],
      name,
    )
    for (const run of await runsOf(owner)) t.match(run, { status: 'completed', input: { prompt: 'a lighthouse' } })
  }
})

t.test('generateImage with an image edits it', async t => {
  const owner = await openAccount(media, { credits: 1000 })
  const models = {
    // The SDK loads files from the origin of the base URL, and from public hosts.
    compatible: compatible({ ...owner, url: media.url }).imageModel('nano-banana-2'),
    'compatible, a model of OpenAI': compatible(owner).imageModel('gpt-image-2-6'),
    'openAi, a model of OpenAI': openAi(owner).image('gpt-image-2-6'),
  }
  for (const [name, model] of Object.entries(models)) {
    const { images } = await generateImage({ model, prompt: { images: [png], text: 'winter' }, n: 2 })
    t.same(
      images.map(({ uint8Array }) => Buffer.from(uint8Array)),
      [MEDIA, MEDIA],
      name,
    )
    const [run] = await runsOf(owner)
    t.match(run, { endpoint: /-i2i$/, input: { prompt: 'winter', image_url: /\/uploads\// } })
  }
  const masked = generateImage({
    model: models.compatible,
    prompt: { images: [png], text: 'winter', mask: png },
  })
  await t.rejects(masked, { statusCode: 400, message: /mask/ })
})

t.test('generateSpeech', async t => {
  const owner = await openAccount(media)
  const { audio } = await experimental_generateSpeech({
    model: openAi(owner).speech('eleven-v3'),
    text: 'The ferry leaves.',
    voice: 'Rachel',
    outputFormat: 'mp3',
  })
  t.same(Buffer.from(audio.uint8Array), tinySound())
  t.match(await runsOf(owner), [{ model: 'eleven-v3', input: { text: 'The ferry leaves.', voice: 'Rachel' } }])
})
