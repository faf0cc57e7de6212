import t from 'tap'
import { bindingsOf } from '../../../../src/catalog/shipped.ts'
import { listPrice } from '../../../../src/domain/routing/list-price.ts'
import { generated, googleError, inlinePicture } from '../../../support/vendors/google.ts'
import { vendorJob } from '../../../support/vendors/vendor-job.ts'
import { picture, pictureBytes } from '../../../support/vendors/vendor-parts.ts'
import { type Handler, reply } from '../../../support/vendors/vendor-server.ts'
import { arrivals, bodyOf, given, never, rejected } from './support.ts'

const model = 'gemini-3.1-flash-image'
const path = `POST /v1beta/models/${model}:generateContent`

const jobFor = (wanted: 'text' | 'image', parameters: Record<string, unknown>) =>
  vendorJob({ model, operation: `generateContent.${wanted}`, parameters: { contents: 'A lighthouse', ...parameters } })

const always =
  (answer: unknown): Handler =>
  (_request, response) =>
    reply(response, 200, answer)

/** What an answer of the stub is reported to have used. */
const work = {
  version: model,
  units: {
    promptTokenCount: 8,
    candidatesTokenCount: 1120,
    totalTokenCount: 1228,
    thoughtsTokenCount: 100,
    'promptTokensDetails.TEXT': 8,
    'candidatesTokensDetails.IMAGE': 1120,
    'candidatesTokensDetails.TEXT': 0,
  },
}

t.test('a question is answered in text, without the thoughts', async t => {
  const parts = [{ text: 'Hmm.', thought: true }, { text: 'A book ' }, { text: 'of money.' }]
  const { provider, server } = await given(t, always(generated(parts)))
  const config = {
    systemInstruction: 'Be brief.',
    thinkingConfig: { thinkingLevel: 'low', includeThoughts: true },
    temperature: 0.5,
    topP: 0.9,
    seed: 55,
    maxOutputTokens: 1024,
  }
  t.same(await provider.submit(jobFor('text', { config }), never), {
    kind: 'done',
    media: [],
    text: 'A book of money.',
    work,
  })
  const { systemInstruction, ...generationConfig } = config
  t.same(bodyOf(server), {
    contents: [{ role: 'user', parts: [{ text: 'A lighthouse' }] }],
    systemInstruction: { role: 'user', parts: [{ text: systemInstruction }] },
    generationConfig,
  })
  t.same(arrivals(server), [path])
})

t.test('counts that Google leaves out are 0, so that the cost of an ordinary picture is known', async t => {
  const usageMetadata = {
    ...{ promptTokenCount: 8, candidatesTokenCount: 1130, totalTokenCount: 1138 },
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
  }
  const unitsFor = async (usage: unknown) => {
    const { provider } = await given(t, always({ ...generated([inlinePicture('one')]), usageMetadata: usage }))
    const outcome = await provider.submit(jobFor('image', {}), never)
    return 'work' in outcome ? outcome.work?.units : undefined
  }
  const units = await unitsFor(usageMetadata)
  t.match(units, {
    thoughtsTokenCount: 0,
    'candidatesTokensDetails.IMAGE': 1120,
    'candidatesTokensDetails.TEXT': 10,
  })
  const [price] = bindingsOf('nano-banana-2-t2i').flatMap(each => (each.model === model ? (each.price ?? []) : []))
  t.ok(price && listPrice(price, units ?? {}, {}))
  const refused = await unitsFor({ promptTokenCount: 8, totalTokenCount: 8 })
  t.match(refused, { candidatesTokenCount: 0, 'candidatesTokensDetails.IMAGE': 0 })
  const vague = await unitsFor({ promptTokenCount: 8, candidatesTokenCount: 1120 })
  t.notOk(Object.hasOwn(vague ?? {}, 'candidatesTokensDetails.IMAGE'), 'what they are of is not said')
  t.same(await unitsFor({ thoughtsTokenCount: 4 }), { thoughtsTokenCount: 4 }, 'nor is this a report')
})

t.test('an empty system instruction is left out', async t => {
  const { provider, server } = await given(t, always(generated([{ text: 'Yes.' }])))
  t.match(await provider.submit(jobFor('text', { config: { systemInstruction: '' } }), never), { text: 'Yes.' })
  t.notOk('systemInstruction' in bodyOf(server))
})

t.test('a picture is edited, with the thoughts about it', async t => {
  const parts = [
    { text: 'First the tower.', thought: true },
    { ...inlinePicture('a draft'), thought: true },
    inlinePicture('a tower'),
  ]
  const groundingMetadata = { webSearchQueries: ['towers', 'tall towers'] }
  const { provider, server } = await given(t, always(generated(parts, { groundingMetadata })))
  const config = {
    responseModalities: ['IMAGE'],
    imageConfig: { aspectRatio: '4:5', imageSize: '2K' },
    tools: [{ googleSearch: {} }],
    thinkingConfig: { includeThoughts: true },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_ONLY_HIGH' }],
  }
  t.same(await provider.submit(jobFor('image', { image: picture, config }), never), {
    kind: 'done',
    media: [{ mimeType: 'image/png', bytes: Buffer.from('a tower') }],
    text: 'First the tower.',
    work: { ...work, units: { ...work.units, webSearchQueries: 2 } },
  })
  const { safetySettings, tools, ...generationConfig } = config
  t.same(bodyOf(server), {
    contents: [
      {
        role: 'user',
        parts: [
          { inlineData: { mimeType: 'image/png', data: pictureBytes.toString('base64') } },
          { text: 'A lighthouse' },
        ],
      },
    ],
    safetySettings,
    tools,
    generationConfig,
  })
})

t.test('so many pictures are so many calls at once', async t => {
  let made = 0
  const { provider, server } = await given(t, (_request, response) => {
    made++
    reply(response, 200, generated([inlinePicture(`picture ${made}`)]))
  })
  const outcome = await provider.submit(jobFor('image', { count: 3 }), never)
  t.equal(outcome.kind === 'done' && outcome.media.length, 3)
  t.match(outcome, { work: { version: model, units: { totalTokenCount: 3 * 1228 } } })
  t.same(arrivals(server), [path, path, path])
})

t.test('if one of several calls fails, all do, with what the others used', async t => {
  const cases: [string, Handler, object][] = [
    [
      'it was refused for a while: the others are paid, so it must not be tried again',
      (_request, response) => reply(response, 503, googleError(503, 'UNAVAILABLE', 'The model is overloaded.')),
      { code: 'provider_error', retryable: undefined, fault: { kind: 'overloaded' } },
    ],
    ['it was cut off', (_request, response) => response.destroy(), { code: 'provider_error', retryable: undefined }],
    [
      'its content was forbidden',
      (_request, response) =>
        reply(response, 400, googleError(400, 'INVALID_ARGUMENT', 'Violates our usage guidelines')),
      { code: 'content_rejected', retryable: undefined },
    ],
  ]
  for (const [name, fail, outcome] of cases)
    await t.test(name, async t => {
      let made = 0
      const { provider, server } = await given(t, (request, response) => {
        made++
        if (made === 2) fail(request, response)
        else reply(response, 200, generated([inlinePicture('a tower')]))
      })
      t.match(await provider.submit(jobFor('image', { count: 3 }), never), {
        kind: 'failed',
        ...outcome,
        work: { version: model, units: { totalTokenCount: 2 * 1228 } },
      })
      t.same(arrivals(server), [path, path, path])
    })
  await t.test('all of them were refused for a while', async t => {
    const { provider } = await given(t, (_request, response) => reply(response, 503, ''))
    t.match(await provider.submit(jobFor('image', { count: 3 }), never), {
      retryable: true,
      fault: { kind: 'overloaded' },
      work: undefined,
    })
  })
  await t.test('all of them were cut off', async t => {
    const { provider } = await given(t, (_request, response) => response.destroy())
    await t.rejects(provider.submit(jobFor('image', { count: 3 }), never), { message: /^Google did not answer: / })
  })
})

t.test('forbidden content', async t => {
  const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, modelVersion: model }
  const reasons = [
    ...['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
    ...['IMAGE_SAFETY', 'IMAGE_PROHIBITED_CONTENT', 'IMAGE_RECITATION'],
  ]
  await t.test('a prompt', async t => {
    const { provider } = await given(t, always(blocked))
    t.same(await provider.submit(jobFor('image', {}), never), { ...rejected, work: { version: model, units: {} } })
  })
  for (const finishReason of reasons)
    await t.test(finishReason, async t => {
      const { provider } = await given(t, always(generated([{ text: 'I' }], { finishReason })))
      t.same(await provider.submit(jobFor('text', {}), never), { ...rejected, work })
    })
})

t.test('empty and odd answers', async t => {
  const noText = { kind: 'failed', code: 'provider_error', message: 'The provider returned no text.' }
  const noPicture = { ...noText, message: 'The provider returned no picture.' }
  const cases: [string, 'text' | 'image', unknown, object][] = [
    ['no picture', 'image', generated([{ text: 'Sorry.' }], { finishReason: 'NO_IMAGE' }), { ...noPicture, work }],
    [
      'only thoughts',
      'text',
      generated([{ text: 'Hmm.', thought: true }], { finishReason: 'MAX_TOKENS' }),
      {
        ...noText,
        message: 'The model used the whole length of the answer for thinking. Allow a longer answer.',
        work,
      },
    ],
    ['no candidates', 'text', {}, { ...noText, work: { units: {} } }],
    [
      'JSON of another shape',
      'image',
      { candidates: { a: 1 }, usageMetadata: 'x' },
      { ...noPicture, work: { units: {} } },
    ],
    [
      'odd parts',
      'image',
      { candidates: [{ content: { parts: [null, { inlineData: 3 }] } }] },
      { ...noPicture, work: { units: {} } },
    ],
    ['a list', 'text', [], { ...noText, work: { units: {} } }],
  ]
  for (const [name, wanted, answer, outcome] of cases)
    await t.test(name, async t => {
      const { provider, server } = await given(t, always(answer))
      t.same(await provider.submit(jobFor(wanted, {}), never), outcome)
      t.equal(server.requests.length, 1)
    })
})

t.test('an unfinished answer is not continued by further requests', async t => {
  const unfinished = generated([{ text: 'It was' }], { finishReason: 'CONTINUATION', continuationToken: 'abc' })
  const { provider, server } = await given(t, always(unfinished))
  t.match(await provider.submit(jobFor('text', {}), never), { kind: 'done', text: 'It was' })
  t.same(arrivals(server), [path])
})
