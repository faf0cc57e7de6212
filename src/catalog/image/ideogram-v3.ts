import { imageFamily } from '../families.ts'
import { choice } from '../parameter-schemas.ts'
import {
  aspectRatio,
  imageUrl,
  negativePrompt,
  numImages,
  prompt,
  promptExpansion,
  seed,
  strength,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const parameters = {
  aspect_ratio: aspectRatio(
    [
      ...['1:1', '4:3', '3:4', '3:2', '2:3', '5:4', '4:5', '16:9', '9:16', '16:10', '10:16'],
      ...['2:1', '1:2', '3:1', '1:3'],
    ],
    '1:1',
  ),
  rendering_speed: choice(
    'Rendering speed',
    'The effort spent on the image, which decides the price.',
    ['TURBO', 'BALANCED', 'QUALITY'],
    'BALANCED',
  ),
  style: choice('Style', 'The style of the image.', ['AUTO', 'GENERAL', 'REALISTIC', 'DESIGN'], 'AUTO'),
  expand_prompt: promptExpansion(true),
  negative_prompt: negativePrompt(),
  num_images: numImages(8),
  seed: seed('image'),
}

const pricing = priceRule(3, {
  quantities: ['num_images'],
  multipliers: { rendering_speed: { TURBO: 1, BALANCED: 2, QUALITY: 3 } },
})

/** Ideogram 3.0. Parameters and prices follow https://fal.ai/models/fal-ai/ideogram/v3/api, and its remix for i2i. */
export const ideogramV3 = imageFamily({
  id: 'ideogram-v3',
  name: 'Ideogram 3.0',
  endpoints: {
    t2i: {
      description: 'Generates images from text; designed for posters, logos and lettering.',
      parameters: { prompt: prompt('The content of the image.'), ...parameters },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'A logo for a bookshop called The Third Shelf' },
        {
          prompt: 'A travel poster for the Faroe Islands',
          aspect_ratio: '10:16',
          rendering_speed: 'QUALITY',
          style: 'DESIGN',
          expand_prompt: false,
          negative_prompt: 'people, cars',
          num_images: 8,
          seed: 300,
        },
      ],
    },
    i2i: {
      description: 'Generates images from a reference image and text.',
      parameters: {
        prompt: prompt('The content of the image.'),
        image_url: imageUrl('The reference image'),
        strength: strength('The weight of the image relative to the prompt.', 0.01, 0.8),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'An ice cream parlour in the same style', image_url: 'https://example.com/poster.png' },
        {
          prompt: 'The label, but for apple juice',
          image_url: 'https://example.com/label.png',
          strength: 0.5,
          aspect_ratio: '3:4',
          rendering_speed: 'TURBO',
          style: 'DESIGN',
          num_images: 2,
          seed: 12,
        },
      ],
    },
  },
})
