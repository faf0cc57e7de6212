import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { implied, same, unlessEmpty } from '../rules.ts'

const common = [...same('prompt', 'seed'), implied('duration', 30), implied('output_format', 'wav')]

export const lyria2: Binding[] = [
  // An empty negative prompt is sent too, since fal has a default.
  onFal('lyria-2-t2a', 'fal-ai/lyria2', { parameters: [...common, ...same('negative_prompt')] }),
  onReplicate('lyria-2-t2a', 'google/lyria-2', { parameters: [...common, unlessEmpty('negative_prompt')] }),
]
