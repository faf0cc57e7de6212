import type { Parameter } from '../parameter-schemas.ts'
import { functionName } from './messages.ts'

/** The most tools that every vendor takes: https://platform.openai.com/docs/api-reference/chat/create */
const MAX_TOOLS = 128

const schema = (description: string) => ({ type: 'object', description, additionalProperties: true })

const strict = { type: 'boolean', description: 'Whether the model must keep to the schema exactly.' }

const toolChoice: Parameter = {
  type: ['string', 'object'],
  title: 'Tool choice',
  description: 'Whether the model must call a tool: auto, none, required, or an object that names the function.',
  // Objects have no constraint of strings, and strings none of objects.
  pattern: '^(auto|none|required)$',
  properties: {
    type: { type: 'string', enum: ['function'] },
    function: { type: 'object', properties: { name: functionName }, required: ['name'], additionalProperties: false },
  },
  required: ['type', 'function'],
  additionalProperties: false,
}

/** The functions that the model may call, as all vendors know them. A vendor may lack the others. */
export const tools: Record<'tools' | 'tool_choice' | 'parallel_tool_calls', Parameter> = {
  tools: {
    type: 'array',
    title: 'Tools',
    description: 'The functions that the model may call. Its answer then has tool_calls.',
    minItems: 0,
    maxItems: MAX_TOOLS,
    items: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['function'] },
        function: {
          type: 'object',
          properties: {
            name: functionName,
            description: { type: 'string', description: 'What the function does.', maxLength: 100_000 },
            parameters: schema('The JSON Schema of the arguments.'),
            strict,
          },
          required: ['name'],
          additionalProperties: false,
        },
      },
      required: ['type', 'function'],
      additionalProperties: false,
    },
  },
  tool_choice: toolChoice,
  parallel_tool_calls: {
    type: 'boolean',
    title: 'Parallel tool calls',
    description: 'Whether an answer may have several tool calls.',
  },
}

/** A tool for the examples of models. */
export const exampleTool = {
  type: 'function',
  function: {
    name: 'read_tide',
    description: 'The height of the tide in a port, in metres.',
    parameters: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
  },
}

/** The form of the answer. */
export const responseFormat = (...types: ('text' | 'json_object' | 'json_schema')[]): Parameter => ({
  type: 'object',
  title: 'Response format',
  description: 'The form of the answer: text, or JSON that matches a schema.',
  properties: {
    type: { type: 'string', description: 'The form.', enum: types },
    json_schema: {
      type: 'object',
      description: 'The schema of an answer of the type json_schema.',
      properties: {
        name: { ...functionName, description: 'The name of the schema.' },
        description: { type: 'string', description: 'What the answer is for.', maxLength: 100_000 },
        schema: schema('The JSON Schema of the answer.'),
        strict,
      },
      required: ['name', 'schema'],
      additionalProperties: false,
    },
  },
  required: ['type'],
  additionalProperties: false,
})

/** The parameters of a model that has all of these. */
export const TOOLS = ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format']
