import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, same, sizes, unlessEmpty } from '../bindings/rules.ts'
import { eachBy, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
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
const family = imageFamily({
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

/** Of the vendor's own sizes, the one for each ratio. */
const sizeTable = sizes({
  ...{ '1:1': '1024x1024', '4:3': '1152x864', '3:4': '864x1152', '3:2': '1248x832', '2:3': '832x1248' },
  ...{ '5:4': '1120x896', '4:5': '896x1120', '16:9': '1312x736', '9:16': '736x1312', '16:10': '1280x800' },
  ...{ '10:16': '800x1280', '2:1': '1408x704', '1:2': '704x1408', '3:1': '1536x512', '1:3': '512x1536' },
})

const fal: ParameterRule[] = [
  ...same('prompt', 'rendering_speed', 'style', 'expand_prompt', 'num_images', 'seed', 'strength'),
  unlessEmpty('negative_prompt'),
  { from: 'aspect_ratio', to: 'image_size', values: sizeTable },
  { from: 'image_url', to: 'image_url', as: 'file' },
]

/** https://fal.ai/models/fal-ai/ideogram/v3/api */
const falPrice = usd(...eachBy('outputs', 'rendering_speed', { TURBO: 0.03, BALANCED: 0.06, QUALITY: 0.09 }))

const replicate: ParameterRule[] = [
  ...same('prompt', 'aspect_ratio', 'seed'),
  {
    from: 'style',
    to: 'style_type',
    values: { AUTO: 'Auto', GENERAL: 'General', REALISTIC: 'Realistic', DESIGN: 'Design' },
  },
  { from: 'expand_prompt', to: 'magic_prompt_option', values: { true: 'On', false: 'Off' } },
  implied('num_images', 1),
  implied('negative_prompt', ''),
]

/** Replicate has a model for each speed. */
const speeds = { BALANCED: 'balanced', TURBO: 'turbo', QUALITY: 'quality' }

const bindings: Binding[] = [
  onFal('ideogram-v3-t2i', 'fal-ai/ideogram/v3', { parameters: fal, price: falPrice }),
  ...Object.entries(speeds).map(([speed, name]) =>
    onReplicate('ideogram-v3-t2i', `ideogram-ai/ideogram-v3-${name}`, {
      parameters: [...replicate, implied('rendering_speed', speed)],
    }),
  ),
  onFal('ideogram-v3-i2i', 'fal-ai/ideogram/v3/remix', { parameters: fal, price: falPrice }),
]

export const ideogramV3: Model = { family, bindings }
