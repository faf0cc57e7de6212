import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, same, withUnit } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { type Model, videoFamily } from '../families.ts'
import { flag } from '../parameter-schemas.ts'
import { durationOf, imageUrl, prompt, videoResolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/** The vendor's limit in characters. */
const MAX_PROMPT_LENGTH = 2_000

const common = {
  duration: durationOf([6, 10], 6),
  resolution: videoResolution(['768p', '1080p'], '768p'),
  prompt_optimizer: flag('Optimise the prompt', 'Lets the vendor improve the prompt first.', true),
}

// Ten seconds cost twice as much as six, so the duration is priced by a table, not as a quantity.
const pricing = priceRule(28, {
  multipliers: { duration: { 6: 1, 10: 2 }, resolution: { '768p': 1, '1080p': 1.75 } },
})

/**
 * MiniMax's Hailuo 2.3. Parameters follow https://platform.minimax.io/docs/api-reference/video-generation-t2v, prices
 * https://fal.ai/models/fal-ai/minimax/hailuo-2.3/standard/text-to-video and its pro form.
 */
const family = videoFamily({
  id: 'hailuo-2-3',
  name: 'Hailuo 2.3',
  endpoints: {
    t2v: {
      description: 'Generates a video from text, 6 or, in 768p, 10 seconds; strong at movement and faces.',
      parameters: { prompt: prompt('The action and look of the video.', MAX_PROMPT_LENGTH), ...common },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'Lightning over a city at night' },
        {
          prompt: 'A snowboarder in deep powder [Tracking shot]',
          duration: 6,
          resolution: '1080p',
          prompt_optimizer: false,
        },
      ],
    },
    i2v: {
      description: 'Animates an image, 6 or, in 768p, 10 seconds.',
      parameters: {
        prompt: prompt('The content of the video.', MAX_PROMPT_LENGTH),
        image_url: imageUrl('The first frame'),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The glass fills with water', image_url: 'https://example.com/glass.jpg' },
        {
          prompt: 'The cyclist jumps over the root',
          image_url: 'https://example.com/cyclist.jpg',
          duration: 10,
          resolution: '768p',
          prompt_optimizer: true,
        },
      ],
    },
  },
})

/** fal has a model for each resolution. The 1080p model makes only six seconds, as everywhere. */
const fal: ParameterRule[] = [...same('prompt', 'prompt_optimizer'), { from: 'image_url', to: 'image_url', as: 'file' }]
const standard = [...fal, implied('resolution', '768p'), withUnit('duration', '', [6, 10])]
const pro = [...fal, implied('resolution', '1080p'), implied('duration', 6)]

const replicate: ParameterRule[] = [
  ...same('prompt', 'duration', 'resolution', 'prompt_optimizer'),
  { from: 'image_url', to: 'first_frame_image', as: 'file' },
]

const bindingsOf = (endpoint: string, kind: string): Binding[] => [
  onFal(endpoint, `fal-ai/minimax/hailuo-2.3/standard/${kind}`, {
    parameters: standard,
    // https://fal.ai/models/fal-ai/minimax/hailuo-2.3/standard/text-to-video
    price: usd(each('runs', 0.28, { duration: 6 }), each('runs', 0.56, { duration: 10 })),
  }),
  onFal(endpoint, `fal-ai/minimax/hailuo-2.3/pro/${kind}`, { parameters: pro, price: usd(each('runs', 0.49)) }),
  onReplicate(endpoint, 'minimax/hailuo-2.3', {
    parameters: replicate,
    refuses: [{ resolution: '1080p', duration: 10 }],
  }),
]

const bindings: Binding[] = [
  ...bindingsOf('hailuo-2-3-t2v', 'text-to-video'),
  ...bindingsOf('hailuo-2-3-i2v', 'image-to-video'),
]

export const hailuo23: Model = { family, bindings }
