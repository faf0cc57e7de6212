import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { same } from '../rules.ts'

const common = same('prompt', 'duration', 'fps', 'generate_audio')

const fal: ParameterRule[] = [
  ...common,
  ...same('resolution', 'aspect_ratio'),
  { from: 'image_url', to: 'image_url', as: 'file' },
  { from: 'end_image_url', to: 'end_image_url', as: 'file' },
]

/** The parameters of version 2.5, whose description could be read. */
const replicate: ParameterRule[] = [
  ...common,
  { from: 'resolution', to: 'resolution', values: { '1080p': '1080p', '1440p': '2k', '2160p': '4k' } },
  { from: 'aspect_ratio', to: 'aspect_ratio', omit: ['auto'] },
  { from: 'image_url', to: 'image', as: 'file' },
]

const bindingsOf = (endpoint: string, kind: string): Binding[] => [
  onFal(endpoint, `fal-ai/ltx-2.3/${kind}`, { parameters: fal }),
  onReplicate(endpoint, 'lightricks/ltx-2.3-pro', { parameters: replicate, unconfirmed: true }),
]

export const ltx23Pro: Binding[] = [
  ...bindingsOf('ltx-2-3-pro-t2v', 'text-to-video'),
  ...bindingsOf('ltx-2-3-pro-i2v', 'image-to-video'),
]
