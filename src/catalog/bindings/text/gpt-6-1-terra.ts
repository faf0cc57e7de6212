import type { Binding } from '../../../../schemas/binding.ts'
import { onOpenAiChat } from '../providers.ts'
import { same, unlessEmpty } from '../rules.ts'
import { million, usd } from '../usd.ts'

const [CACHED, WRITTEN] = ['prompt_tokens_details.cached_tokens', 'prompt_tokens_details.cache_write_tokens'] as const

/** Tokens that are read from a cache, or written into one, are among those of the prompt. */
const price = usd(
  million('prompt_tokens', 1, { without: [CACHED, WRITTEN] }),
  million(CACHED, 0.05, { mayBeAbsent: true }),
  million(WRITTEN, 1.25, { mayBeAbsent: true }),
  million('completion_tokens', 5),
)

export const gpt61Terra: Binding[] = [
  onOpenAiChat('gpt-6-1-terra-t2t', 'gpt-6.1-terra', {
    parameters: [
      ...same('prompt', 'reasoning_effort', 'verbosity'),
      unlessEmpty('instructions'),
      { from: 'max_output_tokens', to: 'max_completion_tokens' },
    ],
    price,
  }),
]
