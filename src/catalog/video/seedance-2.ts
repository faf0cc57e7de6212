import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { range, same, withUnit } from '../bindings/rules.ts'
import { BY_PIXEL } from '../bindings/usd.ts'
import { type Model, videoFamily } from '../families.ts'
import { aspectRatio, durationWithin, generateAudio, imageUrl, prompt, videoResolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const ratios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']

const common = {
  duration: durationWithin(4, 15, 5),
  resolution: videoResolution(['480p', '720p', '1080p', '4K'], '720p'),
  generate_audio: generateAudio,
}

// The vendor charges by the pixel. 480p has almost half as many pixels as 720p, and pixels of 4K cost less.
const pricing = priceRule(30.4, {
  quantities: ['duration'],
  multipliers: { resolution: { '480p': 0.47, '720p': 1, '1080p': 2.25, '4K': 5.2 } },
})

/** ByteDance's Seedance 2.0, after https://fal.ai/models/bytedance/seedance-2.0/text-to-video/api. */
const family = videoFamily({
  id: 'seedance-2',
  name: 'Seedance 2.0',
  replaces: ['seedance-1-5-pro'],
  endpoints: {
    t2v: {
      description: 'Generates a video with speech and sound from text, 4 to 15 seconds.',
      parameters: {
        prompt: prompt('The action, look and speech of the video.'),
        aspect_ratio: aspectRatio(['auto', ...ratios], '16:9'),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A lawyer speaks to the jury, the camera moves in' },
        {
          prompt: 'A river delta from above',
          aspect_ratio: '21:9',
          duration: 9,
          resolution: '1080p',
          generate_audio: false,
        },
      ],
    },
    i2v: {
      description: 'Animates an image with speech and sound, 4 to 15 seconds.',
      parameters: {
        prompt: prompt('The action and speech of the video.'),
        image_url: imageUrl('The first frame'),
        aspect_ratio: aspectRatio(['auto', ...ratios], 'auto', 'the image'),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'He sighs and says: I should have known', image_url: 'https://example.com/man.jpg' },
        {
          prompt: 'The fountain starts',
          image_url: 'https://example.com/fountain.jpg',
          aspect_ratio: '4:3',
          duration: 4,
          resolution: '480p',
          generate_audio: true,
        },
      ],
    },
  },
})

const fal: ParameterRule[] = [
  ...same('prompt', 'aspect_ratio', 'generate_audio'),
  { from: 'resolution', to: 'resolution', values: { '480p': '480p', '720p': '720p', '1080p': '1080p', '4K': '4k' } },
  withUnit('duration', '', range(4, 15)),
  { from: 'image_url', to: 'image_url', as: 'file' },
]

/** The parameters of the model's faster variant, whose description is public. */
const replicate: ParameterRule[] = [
  ...same('prompt', 'duration', 'generate_audio'),
  {
    from: 'aspect_ratio',
    to: 'aspect_ratio',
    values: { auto: 'adaptive', ...Object.fromEntries(ratios.map(ratio => [ratio, ratio])) },
  },
  { from: 'resolution', to: 'resolution', only: ['480p', '720p'] },
  { from: 'image_url', to: 'image', as: 'file' },
]

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'bytedance/seedance-2.0', { parameters: replicate, unconfirmed: true })

const bindings: Binding[] = [
  onFal('seedance-2-t2v', 'bytedance/seedance-2.0/text-to-video', { parameters: fal, unpriced: BY_PIXEL }),
  onReplicateToo('seedance-2-t2v'),
  onFal('seedance-2-i2v', 'bytedance/seedance-2.0/image-to-video', { parameters: fal, unpriced: BY_PIXEL }),
  onReplicateToo('seedance-2-i2v'),
]

export const seedance2: Model = { family, bindings }
