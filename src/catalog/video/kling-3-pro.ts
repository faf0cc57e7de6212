import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { range } from '../bindings/rules.ts'
import { type Model, videoFamily } from '../families.ts'
import { number } from '../parameter-schemas.ts'
import {
  aspectRatio,
  durationWithin,
  endImageUrl,
  generateAudio,
  imageUrl,
  negativePrompt,
  prompt,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { falKling, falKlingPrice, replicateKling } from './kling.ts'

/** The vendor's limit in characters, https://app.klingai.com/global/dev/document-api. */
const MAX_PROMPT_LENGTH = 2_500

const common = {
  duration: durationWithin(3, 15, 5),
  generate_audio: generateAudio,
  negative_prompt: negativePrompt(MAX_PROMPT_LENGTH, 'blur, distort, and low quality'),
  cfg_scale: number('Guidance', 'How closely the video follows the prompt.', {
    minimum: 0,
    maximum: 1,
    default: 0.5,
  }),
}

const pricing = priceRule(11.2, { quantities: ['duration'], multipliers: { generate_audio: { true: 1.5, false: 1 } } })

/**
 * Kuaishou's Kling 3.0 Pro, which makes 1080p. Parameters and prices follow
 * https://fal.ai/models/fal-ai/kling-video/v3/pro/text-to-video/api.
 */
const family = videoFamily({
  id: 'kling-3-pro',
  name: 'Kling 3.0 Pro',
  replaces: ['sora-2-pro'],
  endpoints: {
    t2v: {
      description: 'Generates a video with speech and sound from text, 3 to 15 seconds, in 1080p.',
      parameters: {
        prompt: prompt('The action, look and speech of the video.', MAX_PROMPT_LENGTH),
        aspect_ratio: aspectRatio(['16:9', '9:16', '1:1'], '16:9'),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'An old couple dances in a kitchen, radio music, evening light' },
        {
          prompt: 'A drone flies through a canyon at sunrise',
          aspect_ratio: '9:16',
          duration: 15,
          generate_audio: false,
          negative_prompt: 'blur',
          cfg_scale: 0.6,
        },
      ],
    },
    i2v: {
      description:
        'Animates an image with speech and sound, 3 to 15 seconds, in 1080p; to a last frame, if there is one.',
      parameters: {
        prompt: prompt('The action and speech of the video.', MAX_PROMPT_LENGTH),
        image_url: imageUrl('The first frame'),
        end_image_url: endImageUrl,
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'She turns her head and smiles', image_url: 'https://example.com/portrait.jpg' },
        {
          prompt: 'The balloon lifts off',
          image_url: 'https://example.com/balloon.jpg',
          end_image_url: 'https://example.com/balloon-above-clouds.jpg',
          duration: 8,
          generate_audio: true,
          negative_prompt: 'people',
          cfg_scale: 0.5,
        },
      ],
    },
  },
})

const fal = falKling(range(3, 15))
/** https://fal.ai/models/fal-ai/kling-video/v3/pro/text-to-video/api */
const price = falKlingPrice(0.112, 0.168)

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'kwaivgi/kling-v3-video', { parameters: replicateKling, constants: { mode: 'pro' } })

const bindings: Binding[] = [
  onFal('kling-3-pro-t2v', 'fal-ai/kling-video/v3/pro/text-to-video', { parameters: fal, price }),
  onReplicateToo('kling-3-pro-t2v'),
  onFal('kling-3-pro-i2v', 'fal-ai/kling-video/v3/pro/image-to-video', { parameters: fal, price }),
  onReplicateToo('kling-3-pro-i2v'),
]

export const kling3Pro: Model = { family, bindings }
