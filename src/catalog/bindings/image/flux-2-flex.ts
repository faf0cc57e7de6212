import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same } from '../rules.ts'
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

const bindingsOf = (endpoint: string, falModel: string): Binding[] => [
  onReplicate(endpoint, 'black-forest-labs/flux-2-flex', { parameters: replicate }),
  onFal(endpoint, falModel, { parameters: fal, constants: { enable_safety_checker: true } }),
]

export const flux2Flex: Binding[] = [
  ...bindingsOf('flux-2-flex-t2i', 'fal-ai/flux-2-flex'),
  ...bindingsOf('flux-2-flex-i2i', 'fal-ai/flux-2-flex/edit'),
]
