import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onGoogleJobs } from '../bindings/providers.ts'
import { range, withUnit } from '../bindings/rules.ts'
import { type Model, videoFamily } from '../families.ts'
import { aspectRatio, durationWithin, imageUrl, prompt, videoResolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const common = {
  aspect_ratio: aspectRatio(['16:9', '9:16'], '16:9'),
  duration: durationWithin(3, 10, 8),
  resolution: videoResolution(['360p', '720p', '1080p', '4K'], '720p'),
}

const pricing = priceRule(10, {
  quantities: ['duration'],
  multipliers: { resolution: { '360p': 0.3, '720p': 1, '1080p': 1.5, '4K': 3 } },
})

/**
 * Google's Gemini Omni Flash. Parameters follow https://ai.google.dev/gemini-api/docs/interactions. The price is the
 * price of third parties for version 1.1, the fallback, since version 1.2 costs less.
 */
const family = videoFamily({
  id: 'gemini-omni-flash',
  name: 'Gemini Omni Flash',
  replaces: ['sora-2'],
  endpoints: {
    t2v: {
      description: 'Generates a video with sound from text, 3 to 10 seconds, up to 4K.',
      parameters: { prompt: prompt('The action, look and sound of the video.', 20_000), ...common },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A dog chases leaves in a park, an old film projector rattles' },
        {
          prompt: 'A glass-blower at work, close up, the fire roars',
          aspect_ratio: '9:16',
          duration: 10,
          resolution: '1080p',
        },
      ],
    },
    i2v: {
      description: 'Animates an image with sound, 3 to 10 seconds, up to 4K.',
      parameters: {
        prompt: prompt('The action and sound of the video.', 20_000),
        image_url: imageUrl('The first frame'),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The lighthouse begins to turn', image_url: 'https://example.com/lighthouse.jpg' },
        {
          prompt: 'The children run towards the camera',
          image_url: 'https://example.com/beach.jpg',
          aspect_ratio: '16:9',
          duration: 4,
          resolution: '360p',
        },
      ],
    },
  },
})

const parameters: ParameterRule[] = [
  { from: 'prompt', to: 'input' },
  { from: 'image_url', to: 'image', as: 'file' },
  { from: 'aspect_ratio', to: 'response_format.aspect_ratio' },
  withUnit('duration', 's', range(3, 10), 'response_format.duration'),
  {
    from: 'resolution',
    to: 'response_format.resolution',
    values: { '360p': '360p', '720p': '720p', '1080p': '1080p', '4K': '4k' },
  },
]

const constants = {
  background: true,
  store: true,
  'response_format.type': 'video',
  'response_format.delivery': 'uri',
}

/** The newer version costs less and also takes up to 15 seconds. The family offers what both versions have. */
const versions = ['gemini-omni-1.2-flash', 'gemini-omni-1.1-flash']

/** The client's types do not describe `response_format`. fal serves a version that Google has ended. */
const bindings: Binding[] = ['gemini-omni-flash-t2v', 'gemini-omni-flash-i2v'].flatMap(endpoint =>
  versions.map(model => onGoogleJobs(endpoint, model, { parameters, constants, unconfirmed: true })),
)

export const geminiOmniFlash: Model = { family, bindings }
