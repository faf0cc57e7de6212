import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same } from '../rules.ts'
import { each, usd } from '../usd.ts'

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

/** Both charge it: https://fal.ai/models/fal-ai/flux-pro/kontext/max/api and Replicate's page of the model. */
const price = usd(each('outputs', 0.08))

const onReplicateToo = (endpoint: string, tolerances: Record<string, number>) =>
  onReplicate(endpoint, 'black-forest-labs/flux-kontext-max', { parameters: replicate(tolerances), price })

export const fluxKontextMax: Binding[] = [
  onFal('flux-kontext-max-t2i', 'fal-ai/flux-pro/kontext/max/text-to-image', { parameters: fal, price }),
  onReplicateToo('flux-kontext-max-t2i', { 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6 }),
  onFal('flux-kontext-max-i2i', 'fal-ai/flux-pro/kontext/max', { parameters: fal, price }),
  // With an input image, more tolerance than this is refused.
  onReplicateToo('flux-kontext-max-i2i', { 1: 1, 2: 2 }),
]
