import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { same, sizes, unlessEmpty } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { choice } from '../parameter-schemas.ts'
import { imageUrl, negativePrompt, prompt, strength } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const parameters = {
  style: choice(
    'Style',
    'The style of the image.',
    [
      ...['any', 'realistic_image', 'digital_illustration'],
      ...['realistic_image/b_and_w', 'realistic_image/hard_flash', 'realistic_image/hdr'],
      ...['realistic_image/natural_light', 'realistic_image/studio_portrait', 'realistic_image/enterprise'],
      ...['realistic_image/motion_blur', 'digital_illustration/pixel_art', 'digital_illustration/hand_drawn'],
      ...['digital_illustration/grain', 'digital_illustration/infantile_sketch', 'digital_illustration/2d_art_poster'],
      ...['digital_illustration/handmade_3d', 'digital_illustration/engraving_color'],
    ],
    'realistic_image',
  ),
}

const pricing = priceRule(4)

/**
 * Recraft V3. Parameters follow https://replicate.com/recraft-ai/recraft-v3 and
 * https://fal.ai/models/fal-ai/recraft/v3/image-to-image, the price https://www.recraft.ai/docs. Its vector styles are
 * omitted, because their results are not raster images.
 */
const family = imageFamily({
  id: 'recraft-v3',
  name: 'Recraft V3',
  endpoints: {
    t2i: {
      description: 'Generates images from text in a chosen style; strong at long lettering.',
      parameters: {
        prompt: prompt('The content of the image.', 1_000),
        size: choice(
          'Size',
          'Width and height in pixels.',
          [
            ...['1024x1024', '1365x1024', '1024x1365', '1536x1024', '1024x1536', '1820x1024', '1024x1820'],
            ...['2048x1024', '1024x2048', '1434x1024', '1024x1434', '1280x1024', '1024x1280', '1707x1024', '1024x1707'],
          ],
          '1024x1024',
        ),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A red panda in front of a poster that says HELLO' },
        {
          prompt: 'A village by the sea',
          size: '1820x1024',
          style: 'digital_illustration/pixel_art',
        },
      ],
    },
    i2i: {
      description: 'Redraws an image, with adjustable similarity.',
      parameters: {
        prompt: prompt('The content of the image.', 1_000),
        image_url: imageUrl('The image to redraw'),
        strength: strength(
          'How far the result may differ from the image: 0 is nearly identical, 1 keeps little of it.',
          0,
          0.5,
        ),
        negative_prompt: negativePrompt(1_000),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'winter', image_url: 'https://example.com/valley.jpg' },
        {
          prompt: 'A market at noon',
          image_url: 'https://example.com/market.jpg',
          strength: 0.3,
          style: 'realistic_image/hdr',
          negative_prompt: 'text',
        },
      ],
    },
  },
})

const SIZES = [
  ...['1024x1024', '1365x1024', '1024x1365', '1536x1024', '1024x1536', '1820x1024', '1024x1820'],
  ...['2048x1024', '1024x2048', '1434x1024', '1024x1434', '1280x1024', '1024x1280', '1707x1024', '1024x1707'],
]

/** Recraft's own price (https://www.recraft.ai/docs), which fal and Replicate charge too. */
const price = usd(each('outputs', 0.04))

const bindings: Binding[] = [
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

export const recraftV3: Model = { family, bindings }
