import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same, withUnit } from '../rules.ts'

/** fal has a model for each resolution. That of 1080p makes six seconds, as everywhere. */
const fal: ParameterRule[] = [...same('prompt', 'prompt_optimizer'), { from: 'image_url', to: 'image_url', as: 'file' }]
const standard = [...fal, implied('resolution', '768p'), withUnit('duration', '', [6, 10])]
const pro = [...fal, implied('resolution', '1080p'), implied('duration', 6)]

const replicate: ParameterRule[] = [
  ...same('prompt', 'duration', 'resolution', 'prompt_optimizer'),
  { from: 'image_url', to: 'first_frame_image', as: 'file' },
]

const bindingsOf = (endpoint: string, kind: string): Binding[] => [
  onFal(endpoint, `fal-ai/minimax/hailuo-2.3/standard/${kind}`, { parameters: standard }),
  onFal(endpoint, `fal-ai/minimax/hailuo-2.3/pro/${kind}`, { parameters: pro }),
  onReplicate(endpoint, 'minimax/hailuo-2.3', {
    parameters: replicate,
    refuses: [{ resolution: '1080p', duration: 10 }],
  }),
]

export const hailuo23: Binding[] = [
  ...bindingsOf('hailuo-2-3-t2v', 'text-to-video'),
  ...bindingsOf('hailuo-2-3-i2v', 'image-to-video'),
]
