import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, negated, same, sizes, unlessEmpty } from '../rules.ts'
import { each, usd } from '../usd.ts'

const sizeTable = sizes({
  ...{ '1:1': '1024x1024', '16:9': '1360x768', '9:16': '768x1360', '4:3': '1184x880' },
  ...{ '3:4': '880x1184', '3:2': '1248x832', '2:3': '832x1248' },
})

export const hunyuanImage3: Binding[] = [
  onFal('hunyuan-image-3-t2i', 'fal-ai/hunyuan-image/v3/text-to-image', {
    parameters: [
      ...same('prompt', 'num_images', 'guidance_scale', 'num_inference_steps', 'enable_prompt_expansion'),
      ...same('output_format', 'enable_safety_checker', 'seed'),
      unlessEmpty('negative_prompt'),
      { from: 'aspect_ratio', to: 'image_size', values: sizeTable },
    ],
    // https://fal.ai/models/fal-ai/hunyuan-image/v3/text-to-image/api
    price: usd(each('outputs', 0.1)),
  }),
  onReplicate('hunyuan-image-3-t2i', 'tencent/hunyuan-image-3', {
    parameters: [
      ...same('prompt', 'aspect_ratio', 'seed'),
      { from: 'output_format', to: 'output_format', values: { png: 'png', jpeg: 'jpg' } },
      negated('enable_safety_checker', 'disable_safety_checker'),
      implied('negative_prompt', ''),
      implied('num_images', 1),
      implied('guidance_scale', 7.5),
      implied('num_inference_steps', 28),
      implied('enable_prompt_expansion', false),
    ],
  }),
]
