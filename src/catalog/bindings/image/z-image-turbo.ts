import type { Binding } from '../../../../schemas/binding.ts'
import { onFal } from '../providers.ts'
import { same } from '../rules.ts'

/** Replicate has the model too, but the schema there could not be read. */
export const zImageTurbo: Binding[] = [
  onFal('z-image-turbo-t2i', 'fal-ai/z-image/turbo', {
    parameters: [
      ...same('prompt', 'num_images', 'num_inference_steps', 'acceleration', 'enable_prompt_expansion'),
      ...same('output_format', 'enable_safety_checker', 'seed'),
      { from: 'width', to: 'image_size.width' },
      { from: 'height', to: 'image_size.height' },
    ],
  }),
]
