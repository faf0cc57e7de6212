import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same, withUnit } from '../rules.ts'
import { each, usd } from '../usd.ts'

/** fal has a model for each resolution. That of 1080p makes six seconds, as everywhere. */
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

export const hailuo23: Binding[] = [
  ...bindingsOf('hailuo-2-3-t2v', 'text-to-video'),
  ...bindingsOf('hailuo-2-3-i2v', 'image-to-video'),
]
