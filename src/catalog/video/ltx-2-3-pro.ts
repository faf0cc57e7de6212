import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { same } from '../bindings/rules.ts'
import { type Model, videoFamily } from '../families.ts'
import { choice } from '../parameter-schemas.ts'
import {
  aspectRatio,
  durationOf,
  endImageUrl,
  generateAudio,
  imageUrl,
  prompt,
  videoResolution,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const common = {
  duration: durationOf([6, 8, 10], 6),
  resolution: videoResolution(['1080p', '1440p', '2160p'], '1080p'),
  fps: choice('Frame rate', 'Frames per second.', [24, 25, 48, 50], 25),
  generate_audio: generateAudio,
}

const pricing = priceRule(8, {
  quantities: ['duration'],
  multipliers: { resolution: { '1080p': 1, '1440p': 2, '2160p': 4 } },
})

/**
 * Lightricks' LTX-2.3 Pro. Parameters follow https://fal.ai/models/fal-ai/ltx-2.3/text-to-video/api, prices the
 * vendor's.
 */
const family = videoFamily({
  id: 'ltx-2-3-pro',
  name: 'LTX-2.3 Pro',
  replaces: ['ltx-2-pro'],
  endpoints: {
    t2v: {
      description: 'Generates a video with sound from text, up to 10 seconds, 2160p and 50 frames a second.',
      parameters: {
        prompt: prompt('The action, look and sound of the video.'),
        aspect_ratio: aspectRatio(['16:9', '9:16'], '16:9'),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A cowboy walks through a dusty town at noon' },
        {
          prompt: 'Rain on a greenhouse, seen from inside',
          aspect_ratio: '16:9',
          duration: 10,
          resolution: '1440p',
          fps: 50,
          generate_audio: true,
        },
      ],
    },
    i2v: {
      status: 'test',
      description:
        'Animates an image with sound, also to a last frame, up to 10 seconds, 2160p and 50 frames a second.',
      parameters: {
        prompt: prompt('The action and sound of the video.'),
        image_url: imageUrl('The first frame'),
        end_image_url: endImageUrl,
        aspect_ratio: aspectRatio(['auto', '16:9', '9:16'], 'auto', 'the image'),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The camera moves in on her face', image_url: 'https://example.com/street.jpg' },
        {
          prompt: 'The clouds race by',
          image_url: 'https://example.com/mountain.jpg',
          end_image_url: 'https://example.com/mountain-at-night.jpg',
          duration: 8,
          resolution: '2160p',
          fps: 25,
          generate_audio: false,
        },
      ],
    },
  },
})

const commonRules = same('prompt', 'duration', 'fps', 'generate_audio')

const fal: ParameterRule[] = [
  ...commonRules,
  ...same('resolution', 'aspect_ratio'),
  { from: 'image_url', to: 'image_url', as: 'file' },
  { from: 'end_image_url', to: 'end_image_url', as: 'file' },
]

/** The parameters of version 2.5, whose description is public. */
const replicate: ParameterRule[] = [
  ...commonRules,
  { from: 'resolution', to: 'resolution', values: { '1080p': '1080p', '1440p': '2k', '2160p': '4k' } },
  { from: 'aspect_ratio', to: 'aspect_ratio', omit: ['auto'] },
  { from: 'image_url', to: 'image', as: 'file' },
]

const bindingsOf = (endpoint: string, kind: string): Binding[] => [
  onFal(endpoint, `fal-ai/ltx-2.3/${kind}`, { parameters: fal }),
  onReplicate(endpoint, 'lightricks/ltx-2.3-pro', { parameters: replicate, unconfirmed: true }),
]

const bindings: Binding[] = [
  ...bindingsOf('ltx-2-3-pro-t2v', 'text-to-video'),
  ...bindingsOf('ltx-2-3-pro-i2v', 'image-to-video'),
]

export const ltx23Pro: Model = { family, bindings }
