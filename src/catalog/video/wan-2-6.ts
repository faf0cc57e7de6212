import { videoFamily } from '../families.ts'
import { flag } from '../parameter-schemas.ts'
import {
  aspectRatio,
  durationOf,
  imageUrl,
  negativePrompt,
  prompt,
  promptExpansion,
  safetyChecker,
  seed,
  videoResolution,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

/** The vendor's limit in characters. */
const MAX_PROMPT_LENGTH = 800
const MAX_NEGATIVE_PROMPT_LENGTH = 500

const common = {
  duration: durationOf([5, 10, 15], 5),
  resolution: videoResolution(['720p', '1080p'], '1080p'),
  negative_prompt: negativePrompt(MAX_NEGATIVE_PROMPT_LENGTH),
  enable_prompt_expansion: promptExpansion(true),
  enable_safety_checker: safetyChecker,
  seed: seed('video'),
}

const multiShots = (byDefault: boolean) =>
  flag('Several shots', 'Uses several shots if the prompt is expanded.', byDefault)

const pricing = priceRule(10, { quantities: ['duration'], multipliers: { resolution: { '720p': 1, '1080p': 1.5 } } })

/** Alibaba's Wan 2.6. Parameters and prices follow https://fal.ai/models/wan/v2.6/text-to-video/api. */
export const wan26 = videoFamily({
  id: 'wan-2-6',
  name: 'Wan 2.6',
  endpoints: {
    t2v: {
      description: 'Generates a video of one or several shots from text, up to 15 seconds.',
      parameters: {
        prompt: prompt('The action and look of the video, in English or Chinese.', MAX_PROMPT_LENGTH),
        aspect_ratio: aspectRatio(['16:9', '9:16', '1:1', '4:3', '3:4'], '16:9'),
        multi_shots: multiShots(true),
        ...common,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A bamboo forest sways in the wind' },
        {
          prompt: 'A detective enters a dark flat, finds a letter and reads it',
          aspect_ratio: '4:3',
          multi_shots: true,
          duration: 15,
          resolution: '720p',
          negative_prompt: 'daylight',
          enable_prompt_expansion: true,
          enable_safety_checker: true,
          seed: 71,
        },
      ],
    },
    i2v: {
      description: 'Animates an image, up to 15 seconds.',
      parameters: {
        prompt: prompt('The action, in English or Chinese.', MAX_PROMPT_LENGTH),
        image_url: imageUrl('The first frame'),
        multi_shots: multiShots(false),
        ...common,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'The candle goes out', image_url: 'https://example.com/candle.jpg' },
        {
          prompt: 'The horse gallops away',
          image_url: 'https://example.com/horse.jpg',
          multi_shots: false,
          duration: 10,
          resolution: '1080p',
          negative_prompt: 'fence',
          enable_prompt_expansion: false,
          seed: 14,
        },
      ],
    },
  },
})
