import t from 'tap'
import { Family } from '../../schemas/catalog.ts'
import { shipped } from '../../src/catalog/shipped.ts'
import { findFault } from '../../src/domain/catalog/validity.ts'
import { compileCheck } from '../../src/services/schema-check.ts'

type Row = [id: string, outputType: string, mode: string, kinds: string]

const image = (id: string, kinds: string): Row => [id, 'image', 'sync', kinds]
const video = (id: string, kinds = 't2v i2v'): Row => [id, 'video', 'async', kinds]
const audio = (id: string, mode: string): Row => [id, 'audio', mode, 't2a']
const text = (id: string): Row => [id, 'text', 'sync', 't2t']

const offer: Row[] = [
  image('nano-banana-2', 't2i i2i'),
  image('nano-banana-pro', 't2i i2i'),
  image('seedream-4-5', 't2i i2i'),
  image('flux-2-pro', 't2i i2i'),
  image('flux-2-flex', 't2i i2i'),
  image('flux-kontext-max', 't2i i2i'),
  image('gpt-image-2-6', 't2i i2i'),
  image('seedream-5-pro', 't2i i2i'),
  image('nano-banana-2-lite', 't2i i2i'),
  image('ideogram-v3', 't2i i2i'),
  image('recraft-v3', 't2i i2i'),
  image('qwen-image', 't2i i2i'),
  image('z-image-turbo', 't2i'),
  image('hunyuan-image-3', 't2i'),
  video('veo-3-1', 't2v i2v v2v'),
  video('veo-3-1-fast', 't2v i2v v2v'),
  video('gemini-omni-flash'),
  video('kling-3-pro'),
  video('kling-2-6'),
  video('seedance-2'),
  video('wan-2-6'),
  video('hailuo-2-3'),
  video('gen-4-5'),
  video('ltx-2-3-pro'),
  video('pixverse-v5'),
  audio('eleven-v3', 'sync'),
  audio('minimax-speech-2-6', 'sync'),
  audio('lyria-2', 'async'),
  audio('stable-audio-2-5', 'async'),
  text('gpt-6-1-terra'),
  text('claude-haiku-4-5'),
  text('gemini-3-flash'),
]

t.test('32 families ship, followed by one for testers', async t => {
  t.equal(offer.length, 32)
  t.same(
    shipped
      .slice(0, 32)
      .map(({ id, outputType, endpoints }) => [
        id,
        outputType,
        [...new Set(endpoints.map(endpoint => endpoint.mode))].join(' '),
        endpoints.map(endpoint => endpoint.kind).join(' '),
      ]),
    offer,
  )
  t.same(
    shipped.slice(32).map(({ id }) => id),
    ['sandbox'],
  )
})

t.test('only nano-banana-2 has an alias', async t => {
  t.same(
    shipped.filter(({ aliases }) => aliases.length > 0).map(({ id, aliases }) => [id, aliases]),
    [['nano-banana-2', ['nano']]],
  )
})

t.test('everything is public except the sandbox and the image-to-video of ltx-2-3-pro', async t => {
  const forTesters = shipped.flatMap(family => family.endpoints.filter(({ status }) => status === 'test'))
  const sandboxes = shipped.find(({ id }) => id === 'sandbox')?.endpoints ?? []
  t.same(
    forTesters.map(({ id }) => id),
    ['ltx-2-3-pro-i2v', ...sandboxes.map(({ id }) => id)],
  )
})

t.test('each family matches its schema, and has no faults', async t => {
  const check = compileCheck(Family)
  for (const family of shipped) {
    t.same(check(family), [], family.id)
    const others = shipped.filter(other => other !== family)
    t.equal(findFault(family, others), undefined, family.id)
  }
})

t.test('the timeout depends on the medium, except for a model that is far slower', async t => {
  const limits = new Map([
    ['image sync', 120_000],
    ['text sync', 120_000],
    ['audio sync', 120_000],
    ['audio async', 600_000],
    ['video async', 900_000],
  ])
  for (const family of shipped.filter(({ id }) => id !== 'sandbox'))
    for (const { id, mode, timeoutMs } of family.endpoints)
      t.equal(timeoutMs, family.id === 'seedream-5-pro' ? 300_000 : limits.get(`${family.outputType} ${mode}`), id)
})
