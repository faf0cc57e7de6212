import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, pairs, same, sizes } from '../rules.ts'
import { eachBy, usd } from '../usd.ts'

/** Multiples of 16 near the ratio, from 1024 × 1024 to 2048 × 2048 pixels in all, which are the limits of fal. */
const sizeTable = sizes(
  pairs({
    '1K': {
      ...{ '1:1': '1040x1040', '4:3': '1200x896', '3:4': '896x1200', '16:9': '1376x768' },
      ...{ '9:16': '768x1376', '3:2': '1264x848', '2:3': '848x1264', '21:9': '1584x672' },
    },
    '2K': {
      ...{ '1:1': '2032x2032', '4:3': '2352x1760', '3:4': '1760x2352', '16:9': '2720x1536' },
      ...{ '9:16': '1536x2720', '3:2': '2496x1664', '2:3': '1664x2496', '21:9': '3120x1328' },
    },
  }),
)

const fal = (values: Record<string, unknown>): ParameterRule[] => [
  ...same('prompt', 'num_images', 'output_format', 'enable_safety_checker'),
  { from: ['resolution', 'aspect_ratio'], to: 'image_size', values },
]

const replicate: ParameterRule[] = [
  { from: 'prompt', to: 'prompt', maxLength: 4_000 },
  { from: 'resolution', to: 'size' },
  ...same('aspect_ratio', 'output_format'),
  { from: 'image_url', to: 'image_input', as: 'files' },
  implied('num_images', 1),
  implied('enable_safety_checker', true),
]

/** https://fal.ai/models/bytedance/seedream/v5/pro/text-to-image/api: twice as much above 1536 by 1536 pixels. */
const falPrice = usd(...eachBy('outputs', 'resolution', { '1K': 0.0675, '2K': 0.135 }))

const onReplicateToo = (endpoint: string) =>
  onReplicate(endpoint, 'bytedance/seedream-5-pro', { parameters: replicate })

export const seedream5Pro: Binding[] = [
  onFal('seedream-5-pro-t2i', 'bytedance/seedream/v5/pro/text-to-image', {
    parameters: fal(sizeTable),
    price: falPrice,
  }),
  onReplicateToo('seedream-5-pro-t2i'),
  onFal('seedream-5-pro-i2i', 'bytedance/seedream/v5/pro/edit', {
    parameters: [
      ...fal({ ...sizeTable, '1K match_input_image': 'auto_1K', '2K match_input_image': 'auto_2K' }),
      { from: 'image_url', to: 'image_urls', as: 'files' },
    ],
    price: falPrice,
  }),
  onReplicateToo('seedream-5-pro-i2i'),
]
