import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { falFlux2, replicateFlux2 } from './flux-2.ts'

const bindingsOf = (endpoint: string, falModel: string): Binding[] => [
  onReplicate(endpoint, 'black-forest-labs/flux-2-pro', { parameters: replicateFlux2 }),
  onFal(endpoint, falModel, { parameters: falFlux2, constants: { enable_safety_checker: true } }),
]

export const flux2Pro: Binding[] = [
  ...bindingsOf('flux-2-pro-t2i', 'fal-ai/flux-2-pro'),
  ...bindingsOf('flux-2-pro-i2i', 'fal-ai/flux-2-pro/edit'),
]
