import { runErrorCodes } from '../../schemas/account-events.ts'
import type { Family } from '../../schemas/catalog.ts'
import { credits } from './helpers.ts'

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
        properties: {
          prompt: { type: 'string', title: 'Prompt', description: 'Comes back in the answer.', maxLength: 20_000 },
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
            description: 'How the run ends: it succeeds, breaks the provider, hangs, or fails with the code given.',
            enum: ['success', 'break', 'hang', ...runErrorCodes],
            default: 'success',
          },
        },
        required: ['prompt'],
        additionalProperties: false,
      },
      pricing: { baseMicros: credits(1), quantities: [], multipliers: {}, surcharges: [] },
    },
  ],
}
