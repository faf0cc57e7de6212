import type { Binding } from '../../../schemas/binding.ts'
import { onFal, onReplicate } from '../bindings/providers.ts'
import { implied, same } from '../bindings/rules.ts'
import { eachBy, usd } from '../bindings/usd.ts'
import { imageFamily, type Model } from '../families.ts'
import { guidanceScale, inferenceSteps, promptExpansion } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { falFlux2, flux2ImageToImage, flux2TextToImage, replicateFlux2 } from './flux-2.ts'

const controls = {
  guidance_scale: guidanceScale(1.5, 10, 3.5),
  num_inference_steps: inferenceSteps(2, 50, 28),
  enable_prompt_expansion: promptExpansion(true),
}

/**
 * FLUX.2 [flex] by Black Forest Labs. Parameters follow https://replicate.com/black-forest-labs/flux-2-flex, the names
 * of the controls https://fal.ai/models/fal-ai/flux-2-flex/api. Replicate charges 6 US cents for each megapixel of
 * the result, and for the input image, which counts as one megapixel.
 */
const family = imageFamily({
  id: 'flux-2-flex',
  name: 'FLUX.2 [flex]',
  endpoints: {
    t2i: {
      description: 'Generates an image from text, with control over steps and guidance; strong at lettering.',
      parameters: { ...flux2TextToImage, ...controls },
      required: ['prompt'],
      pricing: priceRule(6, { multipliers: { resolution: { '0.5 MP': 1, '1 MP': 1, '2 MP': 2, '4 MP': 4 } } }),
      examples: [
        { prompt: 'A neon sign that says OPEN LATE above a diner' },
        {
          prompt: 'A city map of an invented harbour town with street names',
          aspect_ratio: '3:2',
          resolution: '4 MP',
          output_format: 'png',
          safety_tolerance: '2',
          guidance_scale: 5,
          num_inference_steps: 50,
          enable_prompt_expansion: false,
          seed: 4,
        },
      ],
    },
    i2i: {
      description: 'Edits an image from a text instruction, with control over steps and guidance.',
      parameters: { ...flux2ImageToImage, ...controls },
      required: ['prompt', 'image_url'],
      pricing: priceRule(6, { multipliers: { resolution: { '0.5 MP': 2, '1 MP': 2, '2 MP': 3, '4 MP': 5 } } }),
      examples: [
        { prompt: 'Write FRESH BREAD on the board', image_url: 'https://example.com/board.jpg' },
        {
          prompt: 'The vase in a gradient from violet to pink',
          image_url: 'https://example.com/vase.png',
          aspect_ratio: 'match_input_image',
          resolution: '1 MP',
          guidance_scale: 4.5,
          num_inference_steps: 20,
          seed: 16,
        },
      ],
    },
  },
})

const replicate = [
  ...replicateFlux2,
  { from: 'guidance_scale', to: 'guidance' },
  { from: 'num_inference_steps', to: 'steps' },
  { from: 'enable_prompt_expansion', to: 'prompt_upsampling' },
]

const fal = [
  ...falFlux2,
  ...same('guidance_scale', 'num_inference_steps'),
  // fal has no switch for it.
  implied('enable_prompt_expansion', true),
]

/** Replicate charges 6 US cents for each megapixel of the result, and for the input image, which counts as one. */
const replicatePrice = (inputUsd: number) =>
  usd(
    ...eachBy('runs', 'resolution', {
      ...{ '0.5 MP': 0.06 + inputUsd, '1 MP': 0.06 + inputUsd },
      ...{ '2 MP': 0.12 + inputUsd, '4 MP': 0.24 + inputUsd },
    }),
  )

const bindingsOf = (endpoint: string, falModel: string, inputUsd: number): Binding[] => [
  onReplicate(endpoint, 'black-forest-labs/flux-2-flex', {
    parameters: replicate,
    price: replicatePrice(inputUsd),
  }),
  onFal(endpoint, falModel, { parameters: fal, constants: { enable_safety_checker: true } }),
]

const bindings: Binding[] = [
  ...bindingsOf('flux-2-flex-t2i', 'fal-ai/flux-2-flex', 0),
  ...bindingsOf('flux-2-flex-i2i', 'fal-ai/flux-2-flex/edit', 0.06),
]

export const flux2Flex: Model = { family, bindings }
