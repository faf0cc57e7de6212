import type { Binding } from '../../../schemas/binding.ts'
import { onOpenAiChat } from '../bindings/providers.ts'
import { conversation, same, unlessEmpty } from '../bindings/rules.ts'
import { million, usd } from '../bindings/usd.ts'
import { type Model, textFamily } from '../families.ts'
import { choice, text } from '../parameter-schemas.ts'
import { prompt } from '../parameters.ts'
import { priceRule } from '../price-rule.ts'
import { answerLength } from './answer-length.ts'
import { messages } from './messages.ts'
import { exampleTool, responseFormat, TOOLS, tools } from './tools.ts'

/**
 * OpenAI's GPT-6.1 Terra, as https://developers.openai.com/api/reference/resources/chat describes it. A
 * million tokens cost 1.25 USD as input that is written into the cache, and 5 USD as output. Prices are a fifth higher.
 */
const family = textFamily({
  id: 'gpt-6-1-terra',
  name: 'GPT-6.1 Terra',
  replaces: ['gpt-5-mini'],
  endpoints: {
    t2t: {
      description: 'Answers in text, with adjustable thinking.',
      parameters: {
        prompt: prompt('The question or task.', 20_000),
        messages,
        ...tools,
        response_format: responseFormat('text', 'json_object', 'json_schema'),
        instructions: text('Instructions', 'Instructions for the behaviour of the model.', {
          minLength: 0,
          maxLength: 10_000,
          default: '',
        }),
        reasoning_effort: choice(
          'Reasoning effort',
          'How hard the model thinks before it answers.',
          ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
          'medium',
        ),
        verbosity: choice('Verbosity', 'How wordy the answer is.', ['low', 'medium', 'high'], 'medium'),
        max_output_tokens: answerLength,
      },
      required: [],
      oneOf: ['prompt', 'messages'],
      pricing: priceRule(0, {
        tokens: { input: 150, cached_input: 6, output: 600 },
        tokenLimits: { input: 400_000, image: 2_500 },
      }),
      examples: [
        { prompt: 'Why is the sky blue?' },
        {
          prompt: 'Write a limerick about a lighthouse keeper.',
          instructions: 'Answer in British English.',
          reasoning_effort: 'low',
          verbosity: 'low',
          tools: [exampleTool],
          tool_choice: 'auto',
          parallel_tool_calls: false,
          max_output_tokens: 1024,
        },
      ],
    },
  },
})

const [CACHED, WRITTEN] = ['prompt_tokens_details.cached_tokens', 'prompt_tokens_details.cache_write_tokens'] as const

/** The tokens of the prompt include the tokens that are read from or written into a cache. */
const price = usd(
  million('prompt_tokens', 1, { without: [CACHED, WRITTEN], tokens: 'input' }),
  million(CACHED, 0.05, { mayBeAbsent: true, tokens: 'cached_input' }),
  million(WRITTEN, 1.25, { mayBeAbsent: true, tokens: 'input' }),
  million('completion_tokens', 5, { tokens: 'output' }),
)

const bindings: Binding[] = [
  onOpenAiChat('gpt-6-1-terra-t2t', 'gpt-6.1-terra', {
    parameters: [
      ...same('prompt', 'reasoning_effort', 'verbosity', ...TOOLS),
      conversation,
      unlessEmpty('instructions'),
      { from: 'max_output_tokens', to: 'max_completion_tokens' },
    ],
    price,
  }),
]

export const gpt61Terra: Model = { family, bindings }
