import fc from 'fast-check'
import t from 'tap'
import type { Endpoint } from '../../schemas/catalog.ts'
import { priceOf, priceRange } from '../../src/domain/catalog/pricing.ts'
import { fromMicros } from '../../src/domain/money.ts'
import { endpoints, filler, type Input, inputsOf } from './inputs.ts'

const CENT = 10_000

const totalOf = ({ pricing, parametersSchema }: Endpoint): ((input: Input) => number) => {
  const fill = filler(parametersSchema)
  return input => priceOf(pricing, fill(input), CENT).totalMicros
}

const smallest = ({ parametersSchema }: Endpoint): Input => parametersSchema.examples?.[0] ?? {}

// Computed by hand from the vendors' prices in the families' files. A credit is a US cent.
const known: [endpoint: string, input: Input, credits: number][] = [
  ['nano-banana-2-i2i', { num_images: 2, resolution: '2K', enable_web_search: true }, 31.5],
  ['nano-banana-pro-t2i', {}, 15],
  ['nano-banana-pro-i2i', { num_images: 2, resolution: '4K', enable_web_search: true }, 61.5],
  ['seedream-4-5-t2i', { resolution: '4K' }, 4],
  ['seedream-4-5-i2i', { num_images: 6 }, 24],
  ['flux-2-pro-t2i', {}, 3],
  ['flux-2-pro-t2i', { resolution: '4 MP' }, 7.5],
  ['flux-2-pro-i2i', {}, 4.5],
  ['flux-2-pro-i2i', { resolution: '2 MP' }, 6],
  ['flux-2-flex-t2i', { resolution: '2 MP' }, 12],
  ['flux-2-flex-i2i', { resolution: '0.5 MP' }, 12],
  ['flux-kontext-max-t2i', { num_images: 2 }, 16],
  ['flux-kontext-max-i2i', {}, 8],
  ['gpt-image-2-6-t2i', { quality: 'low' }, 1],
  ['gpt-image-2-6-t2i', { quality: 'medium', size: '1536x1024' }, 4.4],
  ['gpt-image-2-6-t2i', {}, 21.5],
  ['gpt-image-2-6-i2i', { quality: 'low', num_images: 2 }, 12],
  ['seedream-5-pro-t2i', {}, 6.75],
  ['seedream-5-pro-i2i', { resolution: '2K', num_images: 2 }, 27],
  ['nano-banana-2-lite-t2i', { num_images: 4 }, 16],
  ['nano-banana-2-lite-i2i', {}, 4],
  ['ideogram-v3-t2i', { rendering_speed: 'TURBO' }, 3],
  ['ideogram-v3-t2i', {}, 6],
  ['ideogram-v3-i2i', { rendering_speed: 'QUALITY', num_images: 2 }, 18],
  ['recraft-v3-t2i', {}, 4],
  ['recraft-v3-i2i', {}, 4],
  ['qwen-image-t2i', {}, 2.5],
  ['qwen-image-i2i', { num_images: 2 }, 5],
  ['z-image-turbo-t2i', {}, 1.048576],
  ['z-image-turbo-t2i', { width: 512, height: 2048, num_images: 3, enable_prompt_expansion: true }, 3.395728],
  ['hunyuan-image-3-t2i', {}, 10],
  ['veo-3-1-t2v', {}, 320],
  ['veo-3-1-t2v', { duration: 4, generate_audio: false, resolution: '1080p' }, 80],
  ['veo-3-1-i2v', { duration: 6, resolution: '4K' }, 480],
  ['veo-3-1-i2v', { duration: 4, resolution: '4K', generate_audio: false }, 160],
  ['veo-3-1-fast-t2v', {}, 120],
  ['veo-3-1-fast-i2v', { duration: 4, generate_audio: false }, 40],
  ['veo-3-1-fast-i2v', { duration: 4, resolution: '4K', generate_audio: false }, 120],
  ['veo-3-1-v2v', {}, 280],
  ['veo-3-1-fast-v2v', { generate_audio: false }, 70],
  ['gemini-omni-flash-t2v', {}, 80],
  ['gemini-omni-flash-i2v', { duration: 10, resolution: '4K' }, 300],
  ['kling-3-pro-t2v', {}, 84],
  ['kling-3-pro-i2v', { duration: 15, generate_audio: false }, 168],
  ['kling-2-6-t2v', {}, 70],
  ['kling-2-6-i2v', { duration: 10, generate_audio: false }, 70],
  ['seedance-2-t2v', {}, 152],
  ['seedance-2-i2v', { duration: 15, resolution: '1080p' }, 1026],
  ['wan-2-6-t2v', {}, 75],
  ['wan-2-6-i2v', { duration: 15, resolution: '720p' }, 150],
  ['hailuo-2-3-t2v', {}, 28],
  ['hailuo-2-3-t2v', { resolution: '1080p' }, 49],
  ['hailuo-2-3-i2v', { duration: 10 }, 56],
  ['gen-4-5-t2v', {}, 60],
  ['gen-4-5-i2v', { duration: 10 }, 120],
  ['ltx-2-3-pro-t2v', {}, 48],
  ['ltx-2-3-pro-i2v', { duration: 10, resolution: '2160p' }, 320],
  ['pixverse-v5-t2v', {}, 20],
  ['pixverse-v5-t2v', { resolution: '1080p' }, 40],
  ['pixverse-v5-i2v', { duration: 8, resolution: '360p' }, 30],
  ['eleven-v3-t2a', {}, 10],
  ['minimax-speech-2-6-t2a', {}, 10],
  ['lyria-2-t2a', {}, 6],
  ['stable-audio-2-5-t2a', { duration: 1 }, 20],
]

// Credits for a million tokens: input, cached input, output and thoughts.
const rates: [endpoint: string, ...rates: number[]][] = [
  ['gpt-6-1-terra-t2t', 150, 6, 600, 600],
  ['claude-haiku-4-5-t2t', 120, 120, 600, 600],
  ['gemini-3-flash-t2t', 60, 60, 360, 360],
]

t.test('a run of a text model costs at most a token for each byte of its input, and the longest answer', async t => {
  for (const [id, input, cached, output, thinking] of rates) {
    const [, endpoint] = endpoints.find(([, endpoint]) => endpoint.id === id) as (typeof endpoints)[number]
    const { tokens } = endpoint.pricing
    t.same(tokens && Object.values(tokens).map(fromMicros), [input, cached, output, thinking], id)
    const filled = filler(endpoint.parametersSchema)({ prompt: 'é'.repeat(1000), max_output_tokens: 2000 })
    const atLeast = (2000 * Number(input) + 2000 * Number(output)) / 1_000_000
    const total = fromMicros(totalOf(endpoint)(filled))
    t.ok(total > atLeast && total < atLeast + 0.06, `${id}: ${total}, and ${atLeast} without the rest of the input`)
  }
})

t.test('a run costs what was computed by hand', async t => {
  for (const [id, input, credits] of known) {
    const [, endpoint] = endpoints.find(([, endpoint]) => endpoint.id === id) as (typeof endpoints)[number]
    const total = totalOf(endpoint)({ ...smallest(endpoint), ...input })
    t.equal(fromMicros(total), credits, `${id} ${JSON.stringify(input)}`)
  }
  const listed = new Set(['nano-banana-2-t2i', ...[...known, ...rates].map(([id]) => id)])
  const others = endpoints.filter(([, { id }]) => !listed.has(id))
  t.same(others, [], 'the list is complete, except for a family with its own table beside the evaluator')
})

t.test('every price is a positive whole number of microcredits within the published range', async t => {
  for (const [, endpoint] of endpoints) {
    const { minMicros, maxMicros } = priceRange(endpoint.pricing, endpoint.parametersSchema, CENT)
    const total = totalOf(endpoint)
    fc.assert(
      fc.property(inputsOf(endpoint.parametersSchema), input => {
        const micros = total(input)
        return Number.isSafeInteger(micros) && micros >= 1 && micros >= minMicros && micros <= maxMicros
      }),
      { numRuns: 200 },
    )
    t.pass(endpoint.id)
  }
})

t.test('both ends of the published range are actual prices', async t => {
  for (const [, endpoint] of endpoints.filter(([, { pricing }]) => !pricing.tokens))
    t.same(
      priceRange(endpoint.pricing, endpoint.parametersSchema, CENT),
      {
        minMicros: climb(endpoint, (left, right) => left < right),
        maxMicros: climb(endpoint, (left, right) => left > right),
      },
      endpoint.id,
    )
})

t.test('more of a quantity costs more', async t => {
  for (const [, endpoint] of endpoints) {
    const total = totalOf(endpoint)
    for (const quantity of endpoint.pricing.quantities) {
      const values = valuesOf(endpoint.parametersSchema.properties[quantity] ?? {}) as number[]
      t.ok(values.length > 0, `${endpoint.id} ${quantity}`)
      fc.assert(
        fc.property(inputsOf(endpoint.parametersSchema), input => {
          const totals = values.map(value => total({ ...input, [quantity]: value }))
          return totals.every((micros, index) => index === 0 || micros > (totals[index - 1] as number))
        }),
        { numRuns: 10 },
      )
    }
  }
})

/** The best price from a greedy search over all values of one parameter at a time. */
const climb = (endpoint: Endpoint, isBetter: (left: number, right: number) => boolean): number => {
  const total = totalOf(endpoint)
  let best = smallest(endpoint)
  for (const [name, declared] of Object.entries(endpoint.parametersSchema.properties))
    for (const value of valuesOf(declared)) {
      const other = { ...best, [name]: value }
      if (isBetter(total(other), total(best))) best = other
    }
  return total(best)
}

/** All values of an enum, flag or integer range, in order; none for text or ranges that are too wide. */
const valuesOf = (declared: Record<string, unknown>): unknown[] => {
  if (Array.isArray(declared['enum'])) return declared['enum']
  if (declared['type'] === 'boolean') return [false, true]
  const { minimum, maximum, multipleOf = 1 } = declared as { minimum: number; maximum: number; multipleOf?: number }
  const length = Math.floor((maximum - minimum) / multipleOf) + 1
  if (declared['type'] !== 'integer' || length > 1000) return []
  return Array.from({ length }, (_, index) => minimum + index * multipleOf)
}
