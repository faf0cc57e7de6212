import { Ajv } from 'ajv'
import type { Test } from 'tap'
import { type Handler, reply, startVendorServer, type VendorServer } from './vendor-server.ts'

/** https://platform.claude.com/docs/en/api/overview: keys begin like this. */
export const anthropicKey = 'sk-ant-api03-secret'

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use */
const toolBlocks = {
  tool_use: {
    id: { type: 'string', pattern: '^[a-zA-Z0-9_-]+$' },
    name: { type: 'string' },
    input: { type: 'object' },
  },
  tool_result: { tool_use_id: { type: 'string', pattern: '^[a-zA-Z0-9_-]+$' }, content: { type: 'string' } },
}

/**
 * A request for a message, as far as Tollgate sends one: https://platform.claude.com/docs/en/api/messages, and the
 * client's MessageCreateParams.
 */
const request = {
  type: 'object',
  properties: {
    model: { type: 'string', minLength: 1 },
    max_tokens: { type: 'integer', minimum: 0 },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: {
          role: { enum: ['user', 'assistant'] },
          content: {
            anyOf: [
              { type: 'string', minLength: 1 },
              {
                type: 'array',
                minItems: 1,
                items: { anyOf: [block('text'), block('image'), block('tool_use'), block('tool_result')] },
              },
            ],
          },
        },
        required: ['role', 'content'],
        additionalProperties: false,
      },
    },
    system: { type: 'string', minLength: 1 },
    stop_sequences: { type: 'array', items: { type: 'string' } },
    stream: { type: 'boolean' },
    thinking: { type: 'object', properties: { type: { enum: ['enabled', 'disabled', 'adaptive'] } } },
    tools: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,128}$' },
          description: { type: 'string' },
          input_schema: { type: 'object', properties: { type: { const: 'object' } }, required: ['type'] },
          strict: { type: 'boolean' },
        },
        required: ['name', 'input_schema'],
        additionalProperties: false,
      },
    },
    tool_choice: {
      type: 'object',
      properties: {
        type: { enum: ['auto', 'any', 'tool', 'none'] },
        name: { type: 'string' },
        disable_parallel_tool_use: { type: 'boolean' },
      },
      required: ['type'],
      additionalProperties: false,
    },
    output_config: {
      type: 'object',
      properties: {
        format: {
          type: 'object',
          properties: { type: { const: 'json_schema' }, schema: { type: 'object' } },
          required: ['type', 'schema'],
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  },
  required: ['model', 'max_tokens', 'messages'],
  additionalProperties: false,
}

function block(type: 'text' | 'image' | keyof typeof toolBlocks) {
  if (type === 'tool_use' || type === 'tool_result') {
    const properties = toolBlocks[type]
    return {
      type: 'object',
      properties: { type: { const: type }, ...properties },
      required: ['type', ...Object.keys(properties)],
      additionalProperties: false,
    }
  }
  const source = {
    type: 'object',
    properties: {
      type: { const: 'base64' },
      media_type: { enum: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] },
      data: { type: 'string', minLength: 1 },
    },
    required: ['type', 'media_type', 'data'],
    additionalProperties: false,
  }
  return {
    type: 'object',
    properties: {
      type: { const: type },
      ...(type === 'text' ? { text: { type: 'string', minLength: 1 } } : { source }),
    },
    required: ['type', type === 'text' ? 'text' : 'source'],
    additionalProperties: false,
  }
}

/** Parameters that version 2026-10-21 refuses, even at their defaults: https://platform.claude.com/docs/en/api/versioning */
const sampling = {
  temperature: { type: 'number', minimum: 0, maximum: 1 },
  top_k: { type: 'integer', minimum: 1 },
  top_p: { type: 'number', minimum: 0, maximum: 1 },
}

const ajv = new Ajv({ strict: false })
const checks: Record<string, ReturnType<typeof ajv.compile>> = {
  '2026-10-21': ajv.compile(request),
  '2023-06-01': ajv.compile({ ...request, properties: { ...request.properties, ...sampling } }),
}

/** https://platform.claude.com/docs/en/api/errors#error-shapes */
export const anthropicError = (type: string, message: string, errorCode?: string) => ({
  type: 'error',
  error: { type, message, details: errorCode ? { error_code: errorCode } : null },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
})

/** https://platform.claude.com/docs/en/api/messages#response, with all that the client's type of Message has. */
export const anthropicMessage = (changes: Record<string, unknown> = {}) => ({
  id: 'msg_013Zva2CMHLNnjNjJJKqJ2EF',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content: [{ type: 'text', text: 'A ledger is a book of money.', citations: null }],
  container: null,
  diagnostics: null,
  stop_reason: 'end_turn',
  stop_details: null,
  stop_sequence: null,
  usage: {
    input_tokens: 17,
    output_tokens: 9,
    cache_creation: null,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    inference_geo: null,
    output_tokens_details: { thinking_tokens: 4 },
    server_tool_use: { web_fetch_requests: 0, web_search_requests: 2 },
    service_tier: 'standard',
    speed: null,
  },
  ...changes,
})

/** A stub of Anthropic's API. It answers with a message, or with what the test wants for a request that is in order. */
export const startAnthropic = (
  t: Test,
  answer: Handler = (_request, response) => reply(response, 200, anthropicMessage()),
): Promise<VendorServer> =>
  startVendorServer(t, (request, response) => {
    const { method, headers, path, body } = request
    const check = checks[headers['anthropic-version'] as string]
    const refuse = (status: number, type: string, message: string) =>
      reply(response, status, anthropicError(type, message))
    if (!check) return refuse(400, 'invalid_request_error', 'anthropic-version: header is required')
    // A key in x-api-key wins over a bearer token.
    if (headers['x-api-key'] ?? headers.authorization !== `Bearer ${anthropicKey}`)
      return refuse(401, 'authentication_error', 'API authentication failed. Check that your API key is valid.')
    // https://platform.claude.com/docs/en/api/models-list
    if (method === 'GET' && path === '/v1/models?limit=1') return answer(request, response)
    if (method !== 'POST' || path !== '/v1/messages') return refuse(404, 'not_found_error', 'Not Found')
    if (!check(JSON.parse(body.toString()))) return refuse(400, 'invalid_request_error', ajv.errorsText(check.errors))
    return answer(request, response)
  })
