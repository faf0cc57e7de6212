import { imageFamily } from '../families.ts'
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
export const seedream45 = imageFamily({
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
