import type { Binding } from '../../../../schemas/binding.ts'
import { onFal } from '../providers.ts'
import { same } from '../rules.ts'
import { BY_PIXEL } from '../unpriced.ts'

/**
 * Replicate has the model too, but without a safety checker, which the family has on by default:
 * https://replicate.com/prunaai/z-image-turbo, version e61b4c42.
 */
export const zImageTurbo: Binding[] = [
  onFal('z-image-turbo-t2i', 'fal-ai/z-image/turbo', {
    parameters: [
      ...same('prompt', 'num_images', 'num_inference_steps', 'acceleration', 'enable_prompt_expansion'),
      ...same('output_format', 'enable_safety_checker', 'seed'),
      { from: 'width', to: 'image_size.width' },
      { from: 'height', to: 'image_size.height' },
    ],
    unpriced: BY_PIXEL,
  }),
]
