import { runErrorCodes } from '../../schemas/account-events.ts'
import type { Family } from '../../schemas/catalog.ts'
import { priceRule } from './price-rule.ts'

const outcomes = [
  ...['success', 'crash_before_answer', 'crash_after_answer', 'hang'],
  // Only the client can cancel a run.
  ...runErrorCodes.filter(code => code !== 'cancelled'),
]

const behaviour = {
  delay_ms: {
    type: 'integer',
    title: 'Delay',
    description: 'The time until the outcome, in milliseconds.',
    minimum: 0,
    maximum: 600_000,
    default: 0,
  },
  outcome: {
    type: 'string',
    title: 'Outcome',
    description:
      'The outcome: success, a provider crash before or after it accepts the run, a hang, or a failure with that code.',
    enum: outcomes,
    default: 'success',
  },
}

const prompt = {
  type: 'string',
  title: 'Prompt',
  description: 'Returned in the answer.',
  maxLength: 20_000,
}

const pricing = priceRule(1)

/** A family for testers. Its input controls the provider's behaviour. */
export const sandbox: Family = {
  id: 'sandbox',
  aliases: [],
  name: 'Sandbox',
  outputType: 'text',
  endpoints: [
    {
      id: 'sandbox-t2t',
      kind: 't2t',
      mode: 'sync',
      status: 'test',
      description: 'Answers with text after a delay, or fails or hangs, as the input says.',
      timeoutMs: 60_000,
      parametersSchema: {
        type: 'object',
        properties: { prompt, ...behaviour },
        required: ['prompt'],
        additionalProperties: false,
        examples: [{ prompt: 'Hello' }, { prompt: 'Hello', delay_ms: 1500, outcome: 'provider_error' }],
      },
      pricing,
    },
    {
      id: 'sandbox-i2v',
      kind: 'i2v',
      mode: 'async',
      status: 'test',
      description: 'The same as an asynchronous job. It also answers with text, so that thousands of runs cost little.',
      timeoutMs: 900_000,
      parametersSchema: {
        type: 'object',
        properties: {
          prompt,
          image_url: {
            type: 'string',
            title: 'Image URL',
            description: 'Any text. It selects this endpoint, and is never fetched.',
            maxLength: 2_000,
          },
          ...behaviour,
        },
        required: ['prompt', 'image_url'],
        additionalProperties: false,
        examples: [
          { prompt: 'Hello', image_url: 'none' },
          { prompt: 'Hello', image_url: 'none', delay_ms: 20_000, outcome: 'crash_after_answer' },
        ],
      },
      pricing,
    },
  ],
}
