import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, pairs, same, sizes } from '../bindings/rules.ts'
import { eachBy, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { aspectRatio, imageFormat, imageUrl, numImages, prompt, resolution, safetyChecker } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const ratios = ['1:1', '4:3', '3:4', '16:9', '9:16', '3:2', '2:3', '21:9']

const parameters = {
  resolution: resolution('The size of the image: about 1 or 4 megapixels.', ['1K', '2K'], '1K'),
  num_images: numImages(4),
  output_format: imageFormat(['png', 'jpeg'], 'png'),
  enable_safety_checker: safetyChecker,
}

const pricing = priceRule(6.75, { quantities: ['num_images'], multipliers: { resolution: { '1K': 1, '2K': 2 } } })

/** A picture takes about two minutes, longer than with other models. */
const TIMEOUT_MS = 300_000

/**
 * ByteDance's Seedream 5.0 Pro. Parameters follow https://fal.ai/models/bytedance/seedream/v5/pro/text-to-image/api,
 * which charges 6.75 US cents for up to 1536 by 1536 pixels and twice as much for more.
 */
const family = imageFamily({
  id: 'seedream-5-pro',
  name: 'Seedream 5.0 Pro',
  endpoints: {
    t2i: {
      description: 'Generates images from text, rich in detail and exact in lettering, in 1K or 2K.',
      parameters: {
        prompt: prompt('The content of the image.'),
        aspect_ratio: aspectRatio(ratios, '1:1'),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      timeoutMs: TIMEOUT_MS,
      examples: [
        { prompt: 'A beetle on a fern, macro photograph' },
        {
          prompt: 'A comic in four panels about a cat who learns to sail',
          aspect_ratio: '16:9',
          resolution: '2K',
          num_images: 3,
          output_format: 'jpeg',
          enable_safety_checker: true,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, in 1K or 2K.',
      parameters: {
        prompt: prompt('The change to make to the image.'),
        image_url: imageUrl('The image to edit'),
        aspect_ratio: aspectRatio(['match_input_image', ...ratios], 'match_input_image'),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      timeoutMs: TIMEOUT_MS,
      examples: [
        { prompt: 'Turn the sketch into a photograph', image_url: 'https://example.com/sketch.png' },
        {
          prompt: 'The same square at night',
          image_url: 'https://example.com/square.jpg',
          aspect_ratio: '3:2',
          resolution: '2K',
          num_images: 2,
          output_format: 'png',
        },
      ],
    },
  },
})

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

const bindings: Binding[] = [
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

export const seedream5Pro: Model = { family, bindings }
