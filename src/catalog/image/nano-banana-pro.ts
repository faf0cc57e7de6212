import { imageFamily } from '../families.ts'
import { flag } from '../parameter-schemas.ts'
import {
  aspectRatio,
  imageFormat,
  imageUrl,
  numImages,
  prompt,
  resolution,
  safetyTolerance,
  seed,
} from '../parameters.ts'
import { priceRule, surcharge } from '../price-rule.ts'

const ratios = ['auto', '21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16']

const parameters = {
  num_images: numImages(4),
  resolution: resolution('The size of the image: about 1, 4 or 16 megapixels.', ['1K', '2K', '4K'], '1K'),
  output_format: imageFormat(['png', 'jpeg', 'webp'], 'png'),
  enable_web_search: flag(
    'Web search',
    'Lets the model look up current information on the web, for a surcharge.',
    false,
  ),
  safety_tolerance: safetyTolerance(6, '4'),
  seed: seed('image'),
}

const pricing = priceRule(15, {
  quantities: ['num_images'],
  multipliers: { resolution: { '1K': 1, '2K': 1, '4K': 2 } },
  surcharges: [surcharge('enable_web_search', true, 0.015)],
})

/** Google's Gemini 3 Pro Image. Parameters and prices follow https://fal.ai/models/fal-ai/nano-banana-pro/api. */
export const nanoBananaPro = imageFamily({
  id: 'nano-banana-pro',
  name: 'Nano Banana Pro',
  replaces: ['imagen-4-ultra'],
  endpoints: {
    t2i: {
      description: 'Generates images from text, with legible lettering, up to 4K.',
      parameters: {
        prompt: prompt('The content of the image.', 20_000),
        aspect_ratio: aspectRatio(ratios, '1:1'),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A cutaway drawing of a windmill with its parts named' },
        {
          prompt: 'A poster for a jazz night on Friday at nine',
          aspect_ratio: '2:3',
          num_images: 2,
          resolution: '4K',
          output_format: 'jpeg',
          enable_web_search: true,
          safety_tolerance: '3',
          seed: 11,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, up to 4K.',
      parameters: {
        prompt: prompt('The change to make to the image.', 20_000),
        image_url: imageUrl('The image to edit'),
        aspect_ratio: aspectRatio(ratios, 'auto', 'the image'),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'Translate the sign into French', image_url: 'https://example.com/shop-front.jpg' },
        {
          prompt: 'Show the same room in the evening, with the lamps on',
          image_url: 'https://example.com/room.jpg',
          aspect_ratio: '3:2',
          resolution: '2K',
          output_format: 'webp',
          seed: 5,
        },
      ],
    },
  },
})
