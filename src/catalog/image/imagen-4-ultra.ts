import { imageFamily } from '../families.ts'
import { resolution } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { imagen4Parameters } from './imagen-4-parameters.ts'

/** Google's Imagen 4 Ultra. Parameters and price follow https://fal.ai/models/fal-ai/imagen4/preview/ultra/api. */
export const imagen4Ultra = imageFamily({
  id: 'imagen-4-ultra',
  name: 'Imagen 4 Ultra',
  endpoints: {
    t2i: {
      description: 'Generates images from text, rich in detail and light, in 1K or 2K at one price.',
      parameters: {
        ...imagen4Parameters,
        resolution: resolution('The size of the image: about 1 or 4 megapixels.', ['1K', '2K'], '1K'),
      },
      required: ['prompt'],
      pricing: priceRule(6, { quantities: ['num_images'] }),
      examples: [
        { prompt: 'A beetle on a fern, macro photograph' },
        {
          prompt: 'A comic in four panels about a cat who learns to sail',
          aspect_ratio: '16:9',
          num_images: 3,
          output_format: 'jpeg',
          safety_tolerance: '5',
          seed: 77,
          resolution: '2K',
        },
      ],
    },
  },
})
