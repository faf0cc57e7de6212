import type { ParameterRule } from '../../../schemas/binding.ts'
import { implied } from '../bindings/rules.ts'

/** fal refuses shorter prompts, but the other providers do not. */
const MIN_PROMPT_LENGTH = 3

export const falPrompt: ParameterRule = { from: 'prompt', to: 'prompt', minLength: MIN_PROMPT_LENGTH }

/** Replicate's rules for all Nano Banana models: one picture per prediction, and no seed. */
export const replicateNanoBanana: ParameterRule[] = [
  { from: 'prompt', to: 'prompt' },
  implied('num_images', 1),
  { from: 'image_url', to: 'image_input', as: 'files' },
  // By default, Replicate keeps the ratio of the image or chooses one.
  { from: 'aspect_ratio', to: 'aspect_ratio', omit: ['auto'] },
  { from: 'output_format', to: 'output_format', values: { png: 'png', jpeg: 'jpg' } },
]
