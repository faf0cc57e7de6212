import type { Binding } from '../../../schemas/binding.ts'
import { onGoogleText } from '../bindings/providers.ts'
import { conversation, same, unlessEmpty } from '../bindings/rules.ts'
import { million, usd } from '../bindings/usd.ts'
import { type Model, textFamily } from '../families.ts'
import { choice, number, text } from '../parameter-schemas.ts'
import { prompt, seed } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { answerLength } from './answer-length.ts'
import { messages } from './messages.ts'
import { exampleTool, responseFormat, tools } from './tools.ts'

/**
 * Google's Gemini 3 Flash, as https://ai.google.dev/api/generate-content describes it. A million tokens
 * cost 0.50 USD as input, and 3 USD as output. Prices are a fifth higher.
 */
const family = textFamily({
  id: 'gemini-3-flash',
  name: 'Gemini 3 Flash',
  endpoints: {
    t2t: {
      description: 'Answers in text, with adjustable thinking.',
      parameters: {
        prompt: prompt('The question or task.', 20_000),
        messages,
        tools: tools.tools,
        tool_choice: tools.tool_choice,
        response_format: responseFormat('text', 'json_object', 'json_schema'),
        system_instruction: text('System instruction', 'Instructions for the behaviour of the model.', {
          minLength: 0,
          maxLength: 10_000,
          default: '',
        }),
        thinking_level: choice(
          'Thinking level',
          'How much the model thinks before it answers.',
          ['minimal', 'low', 'medium', 'high'],
          'high',
        ),
        temperature: number('Temperature', 'How varied the answers are: 0 gives nearly the same answer each time.', {
          minimum: 0,
          maximum: 2,
          default: 1,
        }),
        top_p: number('Top p', 'Nucleus sampling: the share of probability from which tokens are chosen.', {
          minimum: 0,
          maximum: 1,
          default: 0.95,
        }),
        seed: seed('text'),
        max_output_tokens: answerLength,
      },
      required: [],
      oneOf: ['prompt', 'messages'],
      pricing: priceRule(0, { tokens: { input: 60, output: 360 }, tokenLimits: { input: 1_048_576, image: 1_120 } }),
      examples: [
        { prompt: 'What is the difference between a debit and a credit?' },
        {
          prompt: 'Plan a day in Ghent for a family.',
          system_instruction: 'Use short bullet points.',
          thinking_level: 'low',
          temperature: 0.7,
          top_p: 0.9,
          seed: 55,
          tools: [exampleTool],
          tool_choice: 'auto',
          max_output_tokens: 1024,
        },
      ],
    },
  },
})

const bindings: Binding[] = [
  onGoogleText('gemini-3-flash-t2t', 'gemini-3-flash-preview', {
    parameters: [
      { from: 'prompt', to: 'contents' },
      ...same('tools', 'tool_choice', 'response_format'),
      conversation,
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
    price: usd(
      million('promptTokenCount', 0.5, { tokens: 'input' }),
      million('candidatesTokenCount', 3, { tokens: 'output' }),
      million('thoughtsTokenCount', 3, { tokens: 'thinking' }),
    ),
    replacedBy: 'gemini-3.6-flash',
  }),
]

export const gemini3Flash: Model = { family, bindings }
