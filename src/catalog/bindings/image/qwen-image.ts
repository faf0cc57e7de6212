import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, negated, same, sizes, unlessEmpty } from '../rules.ts'
import { BY_PIXEL } from '../unpriced.ts'
import { each, usd } from '../usd.ts'

/** The sizes of the model's card, which Replicate uses too. */
const sizeTable = sizes({
  ...{ '1:1': '1328x1328', '16:9': '1664x928', '9:16': '928x1664', '4:3': '1472x1104' },
  ...{ '3:4': '1104x1472', '3:2': '1584x1056', '2:3': '1056x1584' },
})

const fal: ParameterRule[] = [
  ...same('prompt', 'num_images', 'guidance_scale', 'num_inference_steps', 'acceleration'),
  ...same('enable_safety_checker', 'seed', 'strength'),
  unlessEmpty('negative_prompt'),
  { from: 'output_format', to: 'output_format', only: ['png', 'jpeg'] },
  { from: 'aspect_ratio', to: 'image_size', omit: ['match_input_image'], values: sizeTable },
  { from: 'image_url', to: 'image_url', as: 'file' },
]

const replicate: ParameterRule[] = [
  ...same('prompt', 'num_inference_steps', 'seed', 'strength'),
  unlessEmpty('negative_prompt'),
  { from: 'guidance_scale', to: 'guidance', maximum: 10 },
  // Replicate has one degree of acceleration.
  { from: 'acceleration', to: 'go_fast', values: { none: false, regular: true } },
  { from: 'output_format', to: 'output_format', values: { png: 'png', jpeg: 'jpg', webp: 'webp' } },
  { from: 'aspect_ratio', to: 'aspect_ratio', only: ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'] },
  { from: 'image_url', to: 'image', as: 'file' },
  negated('enable_safety_checker', 'disable_safety_checker'),
  implied('num_images', 1),
]

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'qwen/qwen-image', {
    parameters: replicate,
    // https://replicate.com/qwen/qwen-image
    price: usd(each('outputs', 0.025)),
  })

export const qwenImage: Binding[] = [
  onFal('qwen-image-t2i', 'fal-ai/qwen-image', { parameters: fal, unpriced: BY_PIXEL }),
  onReplicateToo('qwen-image-t2i'),
  onFal('qwen-image-i2i', 'fal-ai/qwen-image/image-to-image', { parameters: fal, unpriced: BY_PIXEL }),
  // It cannot keep the ratio of the image, which is the default, so that it serves requests that name one.
  onReplicateToo('qwen-image-i2i'),
]
