import { videoFamily } from '../families.ts'
import { durationOf, imageUrl, prompt, videoResolution } from '../parameters.ts'
import { price } from '../prices.ts'
import { flag } from '../shapes.ts'

/** Characters that the vendor takes. */
const MAX_PROMPT_LENGTH = 2_000

const common = {
  duration: durationOf([6, 10], 6),
  resolution: videoResolution(['768p', '1080p'], '768p'),
  prompt_optimizer: flag('Optimise the prompt', 'Lets the vendor improve the prompt first.', true),
}

// Ten seconds cost twice as much as six, so the duration has a table and is no quantity.
const pricing = price(28, {
  multipliers: { duration: { 6: 1, 10: 2 }, resolution: { '768p': 1, '1080p': 1.75 } },
})

/**
 * MiniMax's Hailuo 2.3. Parameters follow https://platform.minimax.io/docs/api-reference/video-generation-t2v, prices
 * https://fal.ai/models/fal-ai/minimax/hailuo-2.3/standard/text-to-video and its pro form.
 */
export const hailuo23 = videoFamily({
  id: 'hailuo-2-3',
  name: 'Hailuo 2.3',
  endpoints: {
    t2v: {
      description: 'Makes a video from a text, 6 or 10 seconds; strong at movement and faces.',
      parameters: { prompt: prompt('What happens and how it looks.', MAX_PROMPT_LENGTH), ...common },
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
      description: 'Brings an image to life, 6 or 10 seconds, with or without a text.',
      parameters: {
        prompt: prompt('What happens.', MAX_PROMPT_LENGTH),
        image_url: imageUrl('The first frame'),
        ...common,
      },
      required: ['image_url'],
      pricing,
      examples: [
        { image_url: 'https://example.com/glass.jpg' },
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
