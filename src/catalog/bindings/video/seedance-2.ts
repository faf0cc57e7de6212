import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { range, same, withUnit } from '../rules.ts'
import { BY_PIXEL } from '../unpriced.ts'

const fal: ParameterRule[] = [
  ...same('prompt', 'aspect_ratio', 'generate_audio'),
  { from: 'resolution', to: 'resolution', values: { '480p': '480p', '720p': '720p', '1080p': '1080p', '4K': '4k' } },
  withUnit('duration', '', range(4, 15)),
  { from: 'image_url', to: 'image_url', as: 'file' },
]

const ratios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']

/** The parameters of the model's faster sister, whose description could be read. */
const replicate: ParameterRule[] = [
  ...same('prompt', 'duration', 'generate_audio'),
  {
    from: 'aspect_ratio',
    to: 'aspect_ratio',
    values: { auto: 'adaptive', ...Object.fromEntries(ratios.map(ratio => [ratio, ratio])) },
  },
  { from: 'resolution', to: 'resolution', only: ['480p', '720p'] },
  { from: 'image_url', to: 'image', as: 'file' },
]

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'bytedance/seedance-2.0', { parameters: replicate, unconfirmed: true })

export const seedance2: Binding[] = [
  onFal('seedance-2-t2v', 'bytedance/seedance-2.0/text-to-video', { parameters: fal, unpriced: BY_PIXEL }),
  onReplicateToo('seedance-2-t2v'),
  onFal('seedance-2-i2v', 'bytedance/seedance-2.0/image-to-video', { parameters: fal, unpriced: BY_PIXEL }),
  onReplicateToo('seedance-2-i2v'),
]
