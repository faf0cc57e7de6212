import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, negated, pairs, same, sizes } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { aspectRatio, imageUrl, numImages, prompt, resolution, safetyChecker, seed } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const ratios = ['1:1', '4:3', '3:4', '16:9', '9:16', '3:2', '2:3', '21:9']

const parameters = {
  resolution: resolution('The size of the image: about 4 or 16 megapixels.', ['2K', '4K'], '2K'),
  num_images: numImages(6),
  enable_safety_checker: safetyChecker,
  seed: seed('image'),
}

const pricing = priceRule(4, { quantities: ['num_images'] })

/**
 * ByteDance's Seedream 4.5. Sizes follow https://replicate.com/bytedance/seedream-4.5, the rest and the price
 * https://fal.ai/models/fal-ai/bytedance/seedream/v4.5/text-to-image/api.
 */
const family = imageFamily({
  id: 'seedream-4-5',
  name: 'Seedream 4.5',
  endpoints: {
    t2i: {
      description: 'Generates images from text, in 2K or 4K at one price.',
      parameters: {
        prompt: prompt('The content of the image.'),
        aspect_ratio: aspectRatio(ratios, '1:1'),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A bowl of ramen, seen from above, soft window light' },
        {
          prompt: 'A perfume bottle on wet slate, studio photograph',
          aspect_ratio: '3:4',
          resolution: '4K',
          num_images: 4,
          enable_safety_checker: true,
          seed: 99,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, in 2K or 4K at one price.',
      parameters: {
        prompt: prompt('The change to make to the image.'),
        image_url: imageUrl('The image to edit'),
        aspect_ratio: aspectRatio(['match_input_image', ...ratios], 'match_input_image'),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'Change the coat to dark green', image_url: 'https://example.com/coat.jpg' },
        {
          prompt: 'Put the bottle on a beach at sunset',
          image_url: 'https://example.com/bottle.png',
          aspect_ratio: '16:9',
          resolution: '4K',
          num_images: 2,
          seed: 3,
        },
      ],
    },
  },
})

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
  // For several images, the model itself would choose the number.
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

const bindings: Binding[] = [
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

export const seedream45: Model = { family, bindings }
