import type { Binding } from '../../../schemas/binding.ts'
import { onAnthropic } from '../bindings/providers.ts'
import { conversation, same, unlessEmpty } from '../bindings/rules.ts'
import { million, usd } from '../bindings/usd.ts'
import { type Model, textFamily } from '../families.ts'
import { integer, number, text } from '../parameter-schemas.ts'
import { prompt } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { answerLength } from './answer-length.ts'
import { messages } from './messages.ts'
import { exampleTool, responseFormat, TOOLS, tools } from './tools.ts'

/**
 * Anthropic's Claude Haiku 4.5, as https://docs.claude.com/en/api/messages describes it. A million tokens
 * cost 1 USD as input, and 5 USD as output. Prices are a fifth higher.
 */
const family = textFamily({
  id: 'claude-haiku-4-5',
  name: 'Claude Haiku 4.5',
  endpoints: {
    t2t: {
      description: 'Answers in text, quickly.',
      parameters: {
        prompt: prompt('The question or task.', 20_000),
        messages,
        ...tools,
        response_format: responseFormat('text', 'json_schema'),
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
        max_output_tokens: answerLength,
      },
      required: [],
      oneOf: ['prompt', 'messages'],
      pricing: priceRule(0, { tokens: { input: 120, output: 600 }, tokenLimits: { input: 200_000, image: 1_640 } }),
      examples: [
        { prompt: 'Explain a ledger to a child of eight.' },
        {
          prompt: 'Name five birds of the Alps, one on each line.',
          system: 'Answer with the list and nothing else.',
          temperature: 0.2,
          top_k: 40,
          tools: [exampleTool],
          tool_choice: 'auto',
          parallel_tool_calls: false,
          max_output_tokens: 1024,
        },
      ],
    },
  },
})

const bindings: Binding[] = [
  onAnthropic('claude-haiku-4-5-t2t', 'claude-haiku-4-5', {
    parameters: [
      ...same('prompt', 'temperature', 'top_k', ...TOOLS),
      conversation,
      unlessEmpty('system'),
      { from: 'max_output_tokens', to: 'max_tokens' },
    ],
    price: usd(million('input_tokens', 1, { tokens: 'input' }), million('output_tokens', 5, { tokens: 'output' })),
  }),
]

export const claudeHaiku45: Model = { family, bindings }
