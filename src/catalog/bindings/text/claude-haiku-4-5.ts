import type { Binding } from '../../../../schemas/binding.ts'
import { onAnthropic } from '../providers.ts'
import { same, unlessEmpty } from '../rules.ts'
import { usdPerMillion } from '../usd.ts'

export const claudeHaiku45: Binding[] = [
  onAnthropic('claude-haiku-4-5-t2t', 'claude-haiku-4-5', {
    parameters: [...same('prompt', 'temperature', 'top_k', 'max_tokens'), unlessEmpty('system')],
    price: usdPerMillion({ input_tokens: 1, output_tokens: 5 }),
  }),
]
