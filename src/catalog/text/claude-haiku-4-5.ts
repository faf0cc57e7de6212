import type { Binding } from '../../../schemas/binding.ts'
import { onAnthropic } from '../bindings/providers.ts'
import { same, unlessEmpty } from '../bindings/rules.ts'
import { usdPerMillion } from '../bindings/usd.ts'
import { type Model, textFamily } from '../families.ts'
import { integer, number, text } from '../parameter-schemas.ts'
import { prompt } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { answerLength, answerLengthFactors } from './answer-length.ts'

/**
 * Anthropic's Claude Haiku 4.5, as https://docs.claude.com/en/api/messages describes it. At 5 USD per million tokens,
 * 1,024 cost 0.5 credits; the rest covers input tokens.
 */
const family = textFamily({
  id: 'claude-haiku-4-5',
  name: 'Claude Haiku 4.5',
  endpoints: {
    t2t: {
      description: 'Answers in text, quickly.',
      parameters: {
        prompt: prompt('The question or task.', 20_000),
        system: text('System prompt', 'Instructions for the behaviour of the model.', {
          minLength: 0,
          maxLength: 10_000,
          default: '',
        }),
        temperature: number('Temperature', 'How varied the answers are: 0 gives nearly the same answer each time.', {
          minimum: 0,
          maximum: 1,
          default: 1,
        }),
        top_k: integer('Top k', 'The number of most likely tokens to choose from; all by default.', {
          minimum: 1,
          maximum: 500,
        }),
        max_tokens: answerLength,
      },
      required: ['prompt'],
      pricing: priceRule(0.6, { multipliers: { max_tokens: answerLengthFactors } }),
      examples: [
        { prompt: 'Explain a ledger to a child of eight.' },
        {
          prompt: 'Name five birds of the Alps, one on each line.',
          system: 'Answer with the list and nothing else.',
          temperature: 0.2,
          top_k: 40,
          max_tokens: 1024,
        },
      ],
    },
  },
})

const bindings: Binding[] = [
  onAnthropic('claude-haiku-4-5-t2t', 'claude-haiku-4-5', {
    parameters: [...same('prompt', 'temperature', 'top_k', 'max_tokens'), unlessEmpty('system')],
    price: usdPerMillion({ input_tokens: 1, output_tokens: 5 }),
  }),
]

export const claudeHaiku45: Model = { family, bindings }
