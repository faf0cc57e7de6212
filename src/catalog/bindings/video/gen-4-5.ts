import type { Binding, ParameterRule } from '../../../../schemas/binding.ts'
import { onReplicate } from '../providers.ts'
import { same } from '../rules.ts'

const parameters: ParameterRule[] = [
  ...same('prompt', 'duration', 'aspect_ratio', 'seed'),
  { from: 'image_url', to: 'image', as: 'file' },
]

export const gen45: Binding[] = ['gen-4-5-t2v', 'gen-4-5-i2v'].map(endpoint =>
  onReplicate(endpoint, 'runwayml/gen-4.5', { parameters }),
)
