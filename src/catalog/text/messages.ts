import type { Parameter } from '../parameter-schemas.ts'

/** More than an agent exchanges before it summarizes. */
const MAX_MESSAGES = 4_000

/** More than a model looks at in one message. */
const MAX_PARTS = 200

/** The longest ID of a tool call: vendors use up to 64 characters. */
const MAX_ID_LENGTH = 256

/** https://platform.openai.com/docs/api-reference/chat/create allows 64 characters. */
export const functionName = {
  type: 'string',
  description: 'The name of the function, of up to 64 letters, digits, underscores and hyphens.',
  pattern: '^[A-Za-z0-9_-]{1,64}$',
}

const part = {
  type: 'object',
  properties: {
    type: { type: 'string', description: 'What the part holds.', enum: ['text', 'image_url'] },
    text: { type: 'string', description: 'The text of a part of the type text.' },
    image_url: {
      type: 'object',
      description: 'The image of a part of the type image_url.',
      properties: {
        url: {
          type: 'string',
          description: 'An http(s) URL, such as that of an upload, or a data: URL.',
          pattern: '^(https?://|data:)',
          format: 'uri',
        },
      },
      required: ['url'],
      additionalProperties: false,
    },
  },
  required: ['type'],
  additionalProperties: false,
}

const toolCall = {
  type: 'object',
  properties: {
    id: { type: 'string', description: 'The ID of the call.', minLength: 1, maxLength: MAX_ID_LENGTH },
    type: { type: 'string', enum: ['function'] },
    function: {
      type: 'object',
      properties: {
        name: functionName,
        arguments: { type: 'string', description: 'The arguments as JSON.' },
      },
      required: ['name', 'arguments'],
      additionalProperties: false,
    },
  },
  required: ['id', 'type', 'function'],
  additionalProperties: false,
}

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
      role: { type: 'string', description: 'Who speaks.', enum: ['system', 'user', 'assistant', 'tool'] },
      content: {
        type: ['string', 'array'],
        description: 'What was said: a text, or parts, of which those of users may be images.',
        minItems: 1,
        maxItems: MAX_PARTS,
        items: part,
      },
      tool_calls: {
        type: 'array',
        description: 'The calls of tools in an answer of the model.',
        minItems: 1,
        maxItems: MAX_PARTS,
        items: toolCall,
      },
      tool_call_id: {
        type: 'string',
        description: 'The ID of the call that a message of a tool answers.',
        minLength: 1,
        maxLength: MAX_ID_LENGTH,
      },
    },
    required: ['role'],
    additionalProperties: false,
  },
}
