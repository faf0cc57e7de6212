import type { Binding } from '../../../../schemas/binding.ts'
import { onGoogleText } from '../providers.ts'
import { unlessEmpty } from '../rules.ts'
import { usdPerMillion } from '../usd.ts'

export const gemini3Flash: Binding[] = [
  onGoogleText('gemini-3-flash-t2t', 'gemini-3-flash-preview', {
    parameters: [
      { from: 'prompt', to: 'contents' },
      unlessEmpty('system_instruction', 'config.systemInstruction'),
      {
        from: 'thinking_level',
        to: 'config.thinkingConfig.thinkingLevel',
        values: { minimal: 'MINIMAL', low: 'LOW', medium: 'MEDIUM', high: 'HIGH' },
      },
      { from: 'temperature', to: 'config.temperature' },
      { from: 'top_p', to: 'config.topP' },
      { from: 'seed', to: 'config.seed' },
      { from: 'max_output_tokens', to: 'config.maxOutputTokens' },
    ],
    price: usdPerMillion({ promptTokenCount: 0.5, candidatesTokenCount: 3, thoughtsTokenCount: 3 }),
    replacedBy: 'gemini-3.6-flash',
  }),
]
