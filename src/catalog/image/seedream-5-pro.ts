import { imageFamily } from '../families.ts'
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

/** A picture takes about two minutes, longer than those of other models. */
const TIMEOUT_MS = 300_000

/**
 * ByteDance's Seedream 5.0 Pro. Parameters follow https://fal.ai/models/bytedance/seedream/v5/pro/text-to-image/api,
 * which charges 6.75 US cents for up to 1536 by 1536 pixels and twice as much for more.
 */
export const seedream5Pro = imageFamily({
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
