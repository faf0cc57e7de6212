import type { Binding, ParameterRule } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { flag } from '../parameter-schemas.ts'
import {
  aspectRatio,
  guidanceScale,
  imageFormat,
  imageUrl,
  numImages,
  prompt,
  safetyTolerance,
  seed,
} from '../parameters.ts'
import { priceRule } from '../price-rule.ts'

const ratios = ['21:9', '16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16', '9:21']

const parameters = {
  num_images: numImages(4),
  guidance_scale: guidanceScale(1, 20, 3.5),
  enhance_prompt: flag('Enhance prompt', 'Lets a language model improve the prompt first.', false),
  output_format: imageFormat(['jpeg', 'png'], 'jpeg'),
  safety_tolerance: safetyTolerance(6, '2'),
  seed: seed('image'),
}

const pricing = priceRule(8, { quantities: ['num_images'] })

/** FLUX.1 Kontext [max] by Black Forest Labs, after https://fal.ai/models/fal-ai/flux-pro/kontext/max/api. */
const family = imageFamily({
  id: 'flux-kontext-max',
  name: 'FLUX.1 Kontext [max]',
  endpoints: {
    t2i: {
      description: 'Generates images from text.',
      parameters: {
        prompt: prompt('The content of the image.'),
        aspect_ratio: aspectRatio(ratios, '1:1'),
        ...parameters,
      },
      required: ['prompt'],
      pricing,
      examples: [
        { prompt: 'The eye of a tiger, close up' },
        {
          prompt: 'A tram in the rain at night, reflections on the street',
          aspect_ratio: '21:9',
          num_images: 2,
          guidance_scale: 4,
          enhance_prompt: true,
          output_format: 'png',
          safety_tolerance: '4',
          seed: 1234,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, and keeps people and objects recognisable.',
      parameters: {
        prompt: prompt('The change to make to the image.'),
        image_url: imageUrl('The image to edit'),
        aspect_ratio: aspectRatio(['match_input_image', ...ratios], 'match_input_image'),
        ...parameters,
      },
      required: ['prompt', 'image_url'],
      pricing,
      examples: [
        { prompt: 'Put a croissant next to the coffee', image_url: 'https://example.com/coffee.jpg' },
        {
          prompt: 'The same scene as clay animation',
          image_url: 'https://example.com/kitchen.jpg',
          aspect_ratio: '4:3',
          num_images: 4,
          guidance_scale: 2.5,
          output_format: 'jpeg',
          seed: 6,
        },
      ],
    },
  },
})

const fal: ParameterRule[] = [
  ...same('prompt', 'num_images', 'guidance_scale', 'enhance_prompt', 'output_format', 'safety_tolerance', 'seed'),
  { from: 'image_url', to: 'image_url', as: 'file' },
  { from: 'aspect_ratio', to: 'aspect_ratio', omit: ['match_input_image'] },
]

const replicate = (tolerances: Record<string, number>): ParameterRule[] => [
  ...same('prompt', 'aspect_ratio', 'seed'),
  { from: 'image_url', to: 'input_image', as: 'file' },
  { from: 'enhance_prompt', to: 'prompt_upsampling' },
  { from: 'output_format', to: 'output_format', values: { jpeg: 'jpg', png: 'png' } },
  { from: 'safety_tolerance', to: 'safety_tolerance', values: tolerances },
  implied('num_images', 1),
  implied('guidance_scale', 3.5),
]

/**
 * The price at both providers: https://fal.ai/models/fal-ai/flux-pro/kontext/max/api and Replicate's page of the model.
 */
const price = usd(each('outputs', 0.08))

const onReplicateToo = (endpoint: string, tolerances: Record<string, number>) =>
  onReplicate(endpoint, 'black-forest-labs/flux-kontext-max', { parameters: replicate(tolerances), price })

const bindings: Binding[] = [
  onFal('flux-kontext-max-t2i', 'fal-ai/flux-pro/kontext/max/text-to-image', { parameters: fal, price }),
  onReplicateToo('flux-kontext-max-t2i', { 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6 }),
  onFal('flux-kontext-max-i2i', 'fal-ai/flux-pro/kontext/max', { parameters: fal, price }),
  // With an input image, higher tolerances are refused.
  onReplicateToo('flux-kontext-max-i2i', { 1: 1, 2: 2 }),
]

export const fluxKontextMax: Model = { family, bindings }
