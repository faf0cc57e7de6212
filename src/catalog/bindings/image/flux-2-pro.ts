import type { Binding } from '../../../../schemas/binding.ts'
import { onFal, onReplicate } from '../providers.ts'
import { eachBy, usd } from '../usd.ts'
import { falFlux2, replicateFlux2 } from './flux-2.ts'

/**
 * https://fal.ai/models/fal-ai/flux-2-pro: the first megapixel costs 3 US cents and each further one 1.5. The input
 * image counts as one.
 */
const falPrice = (inputUsd: number) =>
  usd(
    ...eachBy('runs', 'resolution', {
      ...{ '0.5 MP': 0.03 + inputUsd, '1 MP': 0.03 + inputUsd },
      ...{ '2 MP': 0.045 + inputUsd, '4 MP': 0.075 + inputUsd },
    }),
  )

const bindingsOf = (endpoint: string, falModel: string, inputUsd: number): Binding[] => [
  onReplicate(endpoint, 'black-forest-labs/flux-2-pro', { parameters: replicateFlux2 }),
  onFal(endpoint, falModel, {
    parameters: falFlux2,
    constants: { enable_safety_checker: true },
    price: falPrice(inputUsd),
  }),
]

export const flux2Pro: Binding[] = [
  ...bindingsOf('flux-2-pro-t2i', 'fal-ai/flux-2-pro', 0),
  ...bindingsOf('flux-2-pro-i2i', 'fal-ai/flux-2-pro/edit', 0.015),
]
