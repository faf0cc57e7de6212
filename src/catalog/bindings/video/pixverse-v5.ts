import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { same, unlessEmpty, withUnit } from '../rules.ts'
import { each, usd } from '../usd.ts'

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
    // Replicate takes it.
    refuses: [{ resolution: '1080p', duration: 8 }],
  }),
  onReplicate(endpoint, 'pixverse/pixverse-v5', { parameters: replicate }),
]

export const pixverseV5: Binding[] = [
  ...bindingsOf('pixverse-v5-t2v', 'text-to-video'),
  ...bindingsOf('pixverse-v5-i2v', 'image-to-video'),
]
