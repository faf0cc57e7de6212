import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { same, unlessEmpty, withUnit } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { type Model, videoFamily } from '../families.ts'
import { choice } from '../parameter-schemas.ts'
import { aspectRatio, durationOf, imageUrl, negativePrompt, prompt, seed, videoResolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/** The vendor's limit in characters. */
const MAX_PROMPT_LENGTH = 2_048

const styles = ['anime', '3d_animation', 'clay', 'comic', 'cyberpunk']

const common = {
  duration: durationOf([5, 8], 5),
  resolution: videoResolution(['360p', '540p', '720p', '1080p'], '720p'),
  negative_prompt: negativePrompt(MAX_PROMPT_LENGTH),
  style: choice('Style', 'The look of the video. By default, it follows the prompt.', styles),
  seed: seed('video'),
}

// Eight seconds cost twice as much as five, so the duration is priced by a table, not as a quantity.
const pricing = priceRule(5, {
  multipliers: { duration: { 5: 1, 8: 2 }, resolution: { '360p': 3, '540p': 3, '720p': 4, '1080p': 8 } },
})

/** PixVerse V5. Parameters and prices follow https://fal.ai/models/fal-ai/pixverse/v5/text-to-video/api. */
const family = videoFamily({
  id: 'pixverse-v5',
  name: 'PixVerse V5',
  endpoints: {
    t2v: {
      description: 'Generates a video from text, 5 or 8 seconds, with optional styles.',
      parameters: {
        prompt: prompt('The action and look of the video.', MAX_PROMPT_LENGTH),
        aspect_ratio: aspectRatio(['16:9', '4:3', '1:1', '3:4', '9:16'], '16:9'),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A dragon wakes on a heap of gold' },
        {
          prompt: 'A robot waters flowers on a balcony',
          aspect_ratio: '3:4',
          duration: 8,
          resolution: '540p',
          negative_prompt: 'blurry',
          style: 'clay',
          seed: 31,
        },
      ],
    },
    i2v: {
      description: 'Animates an image, 5 or 8 seconds, with optional styles.',
      parameters: {
        prompt: prompt('The content of the video.', MAX_PROMPT_LENGTH),
        image_url: imageUrl('The first frame'),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The wolf walks beside her', image_url: 'https://example.com/wolf.jpg' },
        {
          prompt: 'The city lights go on',
          image_url: 'https://example.com/city.jpg',
          duration: 5,
          resolution: '1080p',
          negative_prompt: 'grain',
          style: 'cyberpunk',
          seed: 44,
        },
      ],
    },
  },
})

const fal: ParameterRule[] = [
  ...same('prompt', 'aspect_ratio', 'resolution', 'style', 'seed'),
  withUnit('duration', '', [5, 8]),
  unlessEmpty('negative_prompt'),
  { from: 'image_url', to: 'image_url', as: 'file' },
]

const replicate: ParameterRule[] = [
  ...same('prompt', 'duration', 'seed'),
  { from: 'aspect_ratio', to: 'aspect_ratio', only: ['16:9', '9:16', '1:1'] },
  { from: 'resolution', to: 'quality' },
  unlessEmpty('negative_prompt'),
  { from: 'image_url', to: 'image', as: 'file' },
]

/** https://fal.ai/models/fal-ai/pixverse/v5/text-to-video/api: eight seconds cost twice as much as five. */
const falPrice = usd(
  ...Object.entries({ '360p': 0.15, '540p': 0.15, '720p': 0.2, '1080p': 0.4 }).flatMap(([resolution, dollars]) => [
    each('runs', dollars, { resolution, duration: 5 }),
    each('runs', 2 * dollars, { resolution, duration: 8 }),
  ]),
)

const bindingsOf = (endpoint: string, kind: string): Binding[] => [
  onFal(endpoint, `fal-ai/pixverse/v5/${kind}`, {
    parameters: fal,
    price: falPrice,
    // Replicate serves this combination.
    refuses: [{ resolution: '1080p', duration: 8 }],
  }),
  onReplicate(endpoint, 'pixverse/pixverse-v5', { parameters: replicate }),
]

const bindings: Binding[] = [
  ...bindingsOf('pixverse-v5-t2v', 'text-to-video'),
  ...bindingsOf('pixverse-v5-i2v', 'image-to-video'),
]

export const pixverseV5: Model = { family, bindings }
