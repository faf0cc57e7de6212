import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { eachBy, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { priceRule } from '../price-rule.ts'
import { falFlux2, flux2ImageToImage, flux2TextToImage, replicateFlux2 } from './flux-2.ts'

/**
 * FLUX.2 [pro] by Black Forest Labs. Parameters follow https://replicate.com/black-forest-labs/flux-2-pro, prices
 * https://fal.ai/models/fal-ai/flux-2-pro: the first megapixel costs 3 credits and each further one 1.5. The input
 * image counts as one megapixel.
 */
const family = imageFamily({
  id: 'flux-2-pro',
  name: 'FLUX.2 [pro]',
  endpoints: {
    t2i: {
      description: 'Generates an image from text, true to the prompt without tuning, up to 4 megapixels.',
      parameters: flux2TextToImage,
      required: ['prompt'],
      pricing: priceRule(1.5, { multipliers: { resolution: { '0.5 MP': 2, '1 MP': 2, '2 MP': 3, '4 MP': 5 } } }),
      examples: [
        { prompt: 'A heron in the morning mist, telephoto' },
        {
          prompt: 'A label for a honey jar with the words Lime Tree Honey',
          aspect_ratio: '4:5',
          resolution: '4 MP',
          output_format: 'png',
          output_quality: 95,
          safety_tolerance: '3',
          seed: 21,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, up to 4 megapixels.',
      parameters: flux2ImageToImage,
      required: ['prompt', 'image_url'],
      pricing: priceRule(1.5, { multipliers: { resolution: { '0.5 MP': 3, '1 MP': 3, '2 MP': 4, '4 MP': 6 } } }),
      examples: [
        { prompt: 'Remove the cars from the street', image_url: 'https://example.com/street.jpg' },
        {
          prompt: 'The same cup, but glazed in blue',
          image_url: 'https://example.com/cup.jpg',
          aspect_ratio: '1:1',
          resolution: '2 MP',
          output_format: 'webp',
          seed: 8,
        },
      ],
    },
  },
})

/**
 * https://fal.ai/models/fal-ai/flux-2-pro: the first megapixel costs 3 US cents and each further one 1.5. The input
 * image counts as one.
 */
const falPrice = (inputUsd: number) =>
  usd(
    ...eachBy('runs', 'resolution', {
      ...{ '0.5 MP': 0.03 + inputUsd, '1 MP': 0.03 + inputUsd },
      ...{ '2 MP': 0.045 + inputUsd, '4 MP': 0.075 + inputUsd },
    }),
  )

const bindingsOf = (endpoint: string, falModel: string, inputUsd: number): Binding[] => [
  onReplicate(endpoint, 'black-forest-labs/flux-2-pro', { parameters: replicateFlux2 }),
  onFal(endpoint, falModel, {
    parameters: falFlux2,
    constants: { enable_safety_checker: true },
    price: falPrice(inputUsd),
  }),
]

const bindings: Binding[] = [
  ...bindingsOf('flux-2-pro-t2i', 'fal-ai/flux-2-pro', 0),
  ...bindingsOf('flux-2-pro-i2i', 'fal-ai/flux-2-pro/edit', 0.015),
]

export const flux2Pro: Model = { family, bindings }
