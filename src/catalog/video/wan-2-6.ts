import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, pairs, same, unlessEmpty, withUnit } from '../bindings/rules.ts'
import { eachBy, usd } from '../bindings/usd.ts'
import { type Model, videoFamily } from '../families.ts'
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
const family = videoFamily({
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

const replicate: ParameterRule[] = [
  ...same('prompt', 'duration', 'enable_prompt_expansion', 'multi_shots', 'seed'),
  unlessEmpty('negative_prompt'),
  implied('enable_safety_checker', true),
]

/** The vendor's sizes. Clients of Replicate are known to use the sizes of 16:9 and 9:16. */
const sizeTable = pairs({
  '720p': { '16:9': '1280*720', '9:16': '720*1280', '1:1': '960*960', '4:3': '1088*832', '3:4': '832*1088' },
  '1080p': { '16:9': '1920*1080', '9:16': '1080*1920', '1:1': '1440*1440', '4:3': '1632*1248', '3:4': '1248*1632' },
})

/** fal has withdrawn its text-to-video model, but not its image-to-video model. */
const bindings: Binding[] = [
  onReplicate('wan-2-6-t2v', 'wan-video/wan-2.6-t2v', {
    parameters: [...replicate, { from: ['resolution', 'aspect_ratio'], to: 'size', values: sizeTable }],
    unconfirmed: true,
  }),
  onFal('wan-2-6-i2v', 'wan/v2.6/image-to-video', {
    parameters: [
      ...same('prompt', 'resolution', 'enable_prompt_expansion', 'multi_shots', 'enable_safety_checker', 'seed'),
      withUnit('duration', '', [5, 10, 15]),
      unlessEmpty('negative_prompt'),
      { from: 'image_url', to: 'image_url', as: 'file' },
    ],
    // https://fal.ai/models/wan/v2.6/image-to-video
    price: usd(...eachBy('duration', 'resolution', { '720p': 0.1, '1080p': 0.15 })),
  }),
  onReplicate('wan-2-6-i2v', 'wan-video/wan-2.6-i2v', {
    parameters: [...replicate, ...same('resolution'), { from: 'image_url', to: 'image', as: 'file' }],
    unconfirmed: true,
  }),
]

export const wan26: Model = { family, bindings }
