import { imageFamily } from '../families.ts'
import { priceRule } from '../price-rule.ts'
import { imagen4Parameters } from './imagen-4-parameters.ts'

/** Google's Imagen 4 Fast. Parameters and price follow https://fal.ai/models/fal-ai/imagen4/preview/fast/api. */
export const imagen4Fast = imageFamily({
  id: 'imagen-4-fast',
  name: 'Imagen 4 Fast',
  endpoints: {
    t2i: {
      description: 'Generates images from text, quickly and at a low price.',
      parameters: imagen4Parameters,
      required: ['prompt'],
      pricing: priceRule(2, { quantities: ['num_images'] }),
      examples: [
        { prompt: 'Dumplings on a small round table, late at night' },
        {
          prompt: 'A paper boat on a puddle',
          aspect_ratio: '9:16',
          num_images: 4,
          output_format: 'webp',
          safety_tolerance: '3',
          seed: 10,
        },
      ],
    },
  },
})
