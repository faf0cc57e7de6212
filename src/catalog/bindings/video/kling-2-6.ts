import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { falKling, falKlingPrice, replicateKling } from './kling.ts'

const fal = falKling([5, 10])
/** https://fal.ai/models/fal-ai/kling-video/v2.6/pro */
const price = falKlingPrice(0.07, 0.14)

export const kling26: Binding[] = [
  onFal('kling-2-6-t2v', 'fal-ai/kling-video/v2.6/pro/text-to-video', { parameters: fal, price }),
  onReplicate('kling-2-6-t2v', 'kwaivgi/kling-v2.6', { parameters: replicateKling }),
  onFal('kling-2-6-i2v', 'fal-ai/kling-video/v2.6/pro/image-to-video', { parameters: fal, price }),
  onReplicate('kling-2-6-i2v', 'kwaivgi/kling-v2.6', { parameters: replicateKling }),
]
