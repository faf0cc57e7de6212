import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, negated, pairs, same, sizes } from '../rules.ts'
import { each, usd } from '../usd.ts'

/** The sizes of Replicate, within the limits of fal: 1920 to 4096 pixels a side. */
const sizeTable = sizes(
  pairs({
    '2K': {
      ...{ '1:1': '2048x2048', '4:3': '2304x1728', '3:4': '1728x2304', '16:9': '2560x1440' },
      ...{ '9:16': '1440x2560', '3:2': '2496x1664', '2:3': '1664x2496', '21:9': '3024x1296' },
    },
    '4K': {
      ...{ '1:1': '4096x4096', '4:3': '4096x3072', '3:4': '3072x4096', '16:9': '4096x2304' },
      ...{ '9:16': '2304x4096', '3:2': '4096x2736', '2:3': '2736x4096', '21:9': '4096x1760' },
    },
  }),
)

const fal = (values: Record<string, unknown>): ParameterRule[] => [
  ...same('prompt', 'num_images', 'enable_safety_checker', 'seed'),
  { from: ['resolution', 'aspect_ratio'], to: 'image_size', values },
]

const replicate: ParameterRule[] = [
  { from: 'prompt', to: 'prompt', maxLength: 4_000 },
  { from: 'resolution', to: 'size' },
  ...same('aspect_ratio'),
  { from: 'image_url', to: 'image_input', as: 'files' },
  // For more, the model itself would choose the number.
  implied('num_images', 1),
  negated('enable_safety_checker', 'disable_safety_checker'),
]

/** https://fal.ai/models/fal-ai/bytedance/seedream/v4.5/text-to-image */
const falPrice = usd(each('outputs', 0.04))

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'bytedance/seedream-4.5', {
    parameters: replicate,
    constants: { sequential_image_generation: 'disabled' },
  })

export const seedream45: Binding[] = [
  onFal('seedream-4-5-t2i', 'fal-ai/bytedance/seedream/v4.5/text-to-image', {
    parameters: fal(sizeTable),
    constants: { max_images: 1 },
    price: falPrice,
  }),
  onReplicateToo('seedream-4-5-t2i'),
  onFal('seedream-4-5-i2i', 'fal-ai/bytedance/seedream/v4.5/edit', {
    parameters: [
      ...fal({ ...sizeTable, '2K match_input_image': 'auto_2K', '4K match_input_image': 'auto_4K' }),
      { from: 'image_url', to: 'image_urls', as: 'files' },
    ],
    constants: { max_images: 1 },
    price: falPrice,
  }),
  onReplicateToo('seedream-4-5-i2i'),
]
