import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { eachBy, usd } from '../usd.ts'
import { falFlux2, replicateFlux2 } from './flux-2.ts'

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

export const flux2Flex: Binding[] = [
  ...bindingsOf('flux-2-flex-t2i', 'fal-ai/flux-2-flex', 0),
  ...bindingsOf('flux-2-flex-i2i', 'fal-ai/flux-2-flex/edit', 0.06),
]
