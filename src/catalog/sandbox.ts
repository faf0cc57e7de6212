import { runErrorCodes } from '../../schemas/account-events.ts'
import type { Family } from '../../schemas/catalog.ts'
import { price } from './prices.ts'

const outcomes = [
  ...['success', 'crash_before_answer', 'crash_after_answer', 'hang'],
  // Only the client can cancel a run.
  ...runErrorCodes.filter(code => code !== 'cancelled'),
]

const behaviour = {
  delay_ms: {
    type: 'integer',
    title: 'Delay',
    description: 'Milliseconds before the outcome.',
    minimum: 0,
    maximum: 600_000,
    default: 0,
  },
  outcome: {
    type: 'string',
    title: 'Outcome',
    description:
      'How the run ends: it succeeds, the provider breaks before or after it has taken the run, it hangs, or it fails with the code given.',
    enum: outcomes,
    default: 'success',
  },
}

const prompt = {
  type: 'string',
  title: 'Prompt',
  description: 'Comes back in the answer.',
  maxLength: 20_000,
}

const pricing = price(1)

/** A family for testers, whose input says how the provider shall behave. */
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
      description: 'Answers with a text, after a delay, or fails or hangs as the input asks.',
      provider: 'sandbox',
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
      description: 'The same as a job that is asked after. It answers with a text too, so that thousands cost little.',
      provider: 'sandbox',
      timeoutMs: 900_000,
      parametersSchema: {
        type: 'object',
        properties: {
          prompt,
          image_url: {
            type: 'string',
            title: 'Image URL',
            description: 'Any text: it chooses this endpoint, and is never fetched.',
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
