import type { Binding } from '../../../../schemas/binding.ts'
import { onOpenAiChat } from '../providers.ts'
import { same, unlessEmpty } from '../rules.ts'
import { usdPerMillion } from '../usd.ts'

export const gpt61Terra: Binding[] = [
  onOpenAiChat('gpt-6-1-terra-t2t', 'gpt-6.1-terra', {
    parameters: [
      ...same('prompt', 'reasoning_effort', 'verbosity'),
      unlessEmpty('instructions'),
      { from: 'max_output_tokens', to: 'max_completion_tokens' },
    ],
    price: usdPerMillion({ prompt_tokens: 1, completion_tokens: 5 }),
  }),
]
