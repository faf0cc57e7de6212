import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { range } from '../rules.ts'
import { falKling, falKlingPrice, replicateKling } from './kling.ts'

const fal = falKling(range(3, 15))
/** https://fal.ai/models/fal-ai/kling-video/v3/pro/text-to-video/api */
const price = falKlingPrice(0.112, 0.168)

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'kwaivgi/kling-v3-video', { parameters: replicateKling, constants: { mode: 'pro' } })

export const kling3Pro: Binding[] = [
  onFal('kling-3-pro-t2v', 'fal-ai/kling-video/v3/pro/text-to-video', { parameters: fal, price }),
  onReplicateToo('kling-3-pro-t2v'),
  onFal('kling-3-pro-i2v', 'fal-ai/kling-video/v3/pro/image-to-video', { parameters: fal, price }),
  onReplicateToo('kling-3-pro-i2v'),
]
