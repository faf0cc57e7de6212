import type { ParameterRule } from '../../../schemas/binding.ts'
import { implied, same, unlessEmpty, withUnit } from '../bindings/rules.ts'
import { each, usd } from '../bindings/usd.ts'

/** fal's rules for all Kling models, which take the seconds as text. */
export const falKling = (durations: number[]): ParameterRule[] => [
  // An empty negative prompt is sent too, since fal has a default.
  ...same('prompt', 'negative_prompt', 'generate_audio', 'aspect_ratio', 'cfg_scale'),
  withUnit('duration', '', durations),
  { from: 'image_url', to: 'start_image_url', as: 'file' },
  { from: 'end_image_url', to: 'end_image_url', as: 'file' },
]

/** fal charges per second, and more with sound. */
export const falKlingPrice = (silent: number, sound: number) =>
  usd(each('duration', silent, { generate_audio: false }), each('duration', sound, { generate_audio: true }))

/** It is unknown whether Replicate accepts a last frame. */
export const replicateKling: ParameterRule[] = [
  ...same('prompt', 'duration', 'generate_audio', 'aspect_ratio'),
  unlessEmpty('negative_prompt'),
  { from: 'image_url', to: 'start_image', as: 'file' },
  implied('cfg_scale', 0.5),
]
