import type { Parameter } from '../parameter-schemas.ts'

/** An input of 256 KB holds no more messages that say something. */
const MAX_MESSAGES = 1_000

/** The longest message that leaves room for the other parameters in an input. */
const MAX_MESSAGE_LENGTH = 200_000

/** A conversation, as all vendors of text models know it. */
export const messages: Parameter = {
  type: 'array',
  title: 'Messages',
  description: 'The conversation so far, instead of a prompt. The model answers its last message.',
  minItems: 1,
  maxItems: MAX_MESSAGES,
  items: {
    type: 'object',
    properties: {
      role: { type: 'string', description: 'Who speaks.', enum: ['system', 'user', 'assistant'] },
      content: { type: 'string', description: 'What was said.', minLength: 1, maxLength: MAX_MESSAGE_LENGTH },
    },
    required: ['role', 'content'],
    additionalProperties: false,
  },
}
