import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { same, unlessEmpty, withUnit } from '../rules.ts'

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

const bindingsOf = (endpoint: string, kind: string): Binding[] => [
  onFal(endpoint, `fal-ai/pixverse/v5/${kind}`, {
    parameters: fal,
    // Replicate takes it.
    refuses: [{ resolution: '1080p', duration: 8 }],
  }),
  onReplicate(endpoint, 'pixverse/pixverse-v5', { parameters: replicate }),
]

export const pixverseV5: Binding[] = [
  ...bindingsOf('pixverse-v5-t2v', 'text-to-video'),
  ...bindingsOf('pixverse-v5-i2v', 'image-to-video'),
]
