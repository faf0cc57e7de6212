import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onReplicate } from '../bindings/providers.ts'
import { same } from '../bindings/rules.ts'
import { type Model, videoFamily } from '../families.ts'
import { aspectRatio, durationOf, imageUrl, prompt, seed } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/** The vendor's limit in characters. */
const MAX_PROMPT_LENGTH = 1_000

const common = { duration: durationOf([5, 10], 5), seed: seed('video') }

const pricing = priceRule(12, { quantities: ['duration'] })

/**
 * Runway's Gen-4.5. Parameters follow https://replicate.com/runwayml/gen-4.5, the price
 * https://docs.dev.runwayml.com/api.
 */
const family = videoFamily({
  id: 'gen-4-5',
  name: 'Gen-4.5',
  endpoints: {
    t2v: {
      description: 'Generates a video without sound from text, 5 or 10 seconds.',
      parameters: {
        prompt: prompt('The action and look of the video.', MAX_PROMPT_LENGTH),
        aspect_ratio: aspectRatio(['16:9', '9:16'], '16:9'),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'Ink spreads in clear water, macro' },
        { prompt: 'A diver sinks past a wall of coral', aspect_ratio: '9:16', duration: 10, seed: 25 },
      ],
    },
    i2v: {
      description: 'Animates an image without sound, 5 or 10 seconds.',
      parameters: {
        prompt: prompt('The content of the video.', MAX_PROMPT_LENGTH),
        image_url: imageUrl('The first frame'),
        aspect_ratio: aspectRatio(['16:9', '9:16', '4:3', '3:4', '1:1', '21:9'], '16:9'),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The camera circles the statue', image_url: 'https://example.com/statue.jpg' },
        {
          prompt: 'Fog rolls over the hills',
          image_url: 'https://example.com/hills.jpg',
          aspect_ratio: '21:9',
          duration: 10,
          seed: 90,
        },
      ],
    },
  },
})

const parameters: ParameterRule[] = [
  ...same('prompt', 'duration', 'aspect_ratio', 'seed'),
  { from: 'image_url', to: 'image', as: 'file' },
]

const bindings: Binding[] = ['gen-4-5-t2v', 'gen-4-5-i2v'].map(endpoint =>
  onReplicate(endpoint, 'runwayml/gen-4.5', { parameters }),
)

export const gen45: Model = { family, bindings }
