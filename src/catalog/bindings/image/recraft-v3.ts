import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { same, sizes, unlessEmpty } from '../rules.ts'
import { each, usd } from '../usd.ts'

const SIZES = [
  ...['1024x1024', '1365x1024', '1024x1365', '1536x1024', '1024x1536', '1820x1024', '1024x1820'],
  ...['2048x1024', '1024x2048', '1434x1024', '1024x1434', '1280x1024', '1024x1280', '1707x1024', '1024x1707'],
]

/** Recraft's own price (https://www.recraft.ai/docs), which fal and Replicate charge too. */
const price = usd(each('outputs', 0.04))

export const recraftV3: Binding[] = [
  onFal('recraft-v3-t2i', 'fal-ai/recraft/v3/text-to-image', {
    parameters: [
      ...same('prompt', 'style'),
      { from: 'size', to: 'image_size', values: sizes(Object.fromEntries(SIZES.map(size => [size, size]))) },
    ],
    price,
  }),
  onReplicate('recraft-v3-t2i', 'recraft-ai/recraft-v3', { parameters: same('prompt', 'style', 'size'), price }),
  onFal('recraft-v3-i2i', 'fal-ai/recraft/v3/image-to-image', {
    parameters: [
      ...same('prompt', 'style', 'strength'),
      unlessEmpty('negative_prompt'),
      { from: 'image_url', to: 'image_url', as: 'file' },
    ],
    price,
  }),
]
