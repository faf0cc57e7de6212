import t from 'tap'
import { upstreamParameters } from '../../../src/domain/routing/upstream-parameters.ts'

const binding = {
  parameters: [
    { from: 'prompt', to: 'prompt' },
    { from: ['resolution', 'aspect_ratio'], to: 'size', values: { '1K 1:1': '1024x1024', '1K 16:9': '1536x1024' } },
    { from: 'duration', to: 'config.duration', as: 'string' as const },
    { from: 'image_url', to: 'images', as: 'files' as const },
    { from: 'seed', to: 'seed' },
    { from: 'output_format', only: ['png'] },
  ],
  constants: { 'config.watermark': false },
  refuses: [{ duration: 10, seed: 1 }],
}
const base = { prompt: 'hello', resolution: '1K', aspect_ratio: '16:9' }

t.test('an input is said in the words of the provider', async t => {
  const input = { ...base, duration: 5, image_url: 'https://a.example/x.png', output_format: 'png' }
  t.same(upstreamParameters(binding, input), {
    parameters: {
      prompt: 'hello',
      size: '1536x1024',
      config: { watermark: false, duration: '5' },
      images: [{ fileUrl: 'https://a.example/x.png' }],
    },
  })
})

t.test('whatever a binding cannot honour is unmet', async t => {
  const unmet = (input: object) => upstreamParameters(binding, { ...base, ...input })
  t.same(unmet({ output_format: 'webp' }), { unmet: { parameters: ['output_format'] } })
  t.same(unmet({ resolution: '4K' }), { unmet: { parameters: ['resolution', 'aspect_ratio'] } })
  t.same(unmet({ resolution: 'toString' }), { unmet: { parameters: ['resolution', 'aspect_ratio'] } })
  t.same(unmet({ style: 'oil' }), { unmet: { parameters: ['style'] } })
  t.same(unmet({ duration: 10, seed: 1 }), { unmet: { parameters: ['duration', 'seed'] } })
  t.ok('parameters' in unmet({ duration: 10, seed: 2 }))
})

t.test('a value that needs no words is left out, and one outside the bounds of the provider is unmet', async t => {
  const narrow = {
    parameters: [
      { from: 'prompt', to: 'prompt', minLength: 3, maxLength: 5 },
      { from: 'negative_prompt', to: 'negative_prompt', omit: [''] },
      { from: 'guidance_scale', to: 'guidance', maximum: 10 },
    ],
  }
  const mapped = (input: object) => upstreamParameters(narrow, { ...input })
  t.same(mapped({ prompt: 'three', negative_prompt: '', guidance_scale: 10 }), {
    parameters: { prompt: 'three', guidance: 10 },
  })
  t.same(mapped({ negative_prompt: 'rain' }), { parameters: { negative_prompt: 'rain' } })
  const unmet = (name: string, keyword: string, limit: number) => ({
    unmet: { parameters: [name], bound: { keyword, limit } },
  })
  t.same(mapped({ prompt: 'ab' }), unmet('prompt', 'minLength', 3))
  t.same(mapped({ prompt: 'abcdef' }), unmet('prompt', 'maxLength', 5))
  t.same(mapped({ guidance_scale: 11 }), unmet('guidance_scale', 'maximum', 10))
})

t.test('a value may become any JSON, and a refusal may name several values', async t => {
  const rich = {
    parameters: [
      { from: 'size', to: 'image_size', values: { wide: { width: 16, height: 9 } } },
      { from: 'duration', to: 'duration' },
    ],
    refuses: [{ size: 'wide', duration: [8, 10] }],
  }
  t.same(upstreamParameters(rich, { size: 'wide', duration: 5 }), {
    parameters: { image_size: { width: 16, height: 9 }, duration: 5 },
  })
  t.same(upstreamParameters(rich, { size: 'wide', duration: 10 }), { unmet: { parameters: ['size', 'duration'] } })
})
