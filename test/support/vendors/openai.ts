import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import { reply, startVendorServer, type VendorRequest, type VendorServer } from './vendor-server.ts'

export const KEY = 'sk-test-1234567890'

/** One red pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
export const SOUND = Buffer.from('OggS and so on')
export const FILM = Buffer.from('....ftypmp42 and so on')

/** The body of a request: parsed JSON, or a form whose files are `{ name, type, bytes }`. */
export type Body = Record<string, unknown>

export interface OpenAiServer extends VendorServer {
  /** The bodies of the requests that were not GET. */
  bodies: Body[]
  /** Answers all requests from now on in place of the API. */
  answer?: (response: ServerResponse, request: VendorRequest) => void
  /** What a request for the video returns besides its id; `status` decides. */
  video: Record<string, unknown>
}

/** A server of OpenAI's API until the test ends: https://platform.openai.com/docs/api-reference */
export const startOpenAi = async (t: Test): Promise<OpenAiServer> => {
  const bodies: Body[] = []
  const stub = await startVendorServer(t, async (request, response) => {
    const isPost = request.method === 'POST'
    const body = isPost ? await bodyOf(request) : {}
    if (isPost) bodies.push(body)
    if (server.answer) return server.answer(response, request)
    if (request.headers.authorization !== `Bearer ${KEY}`) return reply(response, 401, unauthorized)
    const route = `${request.method} ${request.path}`
    const schema = schemas[route]
    if (schema && !Value.Check(schema, body)) return reply(response, 400, refusal(Value.Errors(schema, body)))
    serve(route, body, response, server)
  })
  const server: OpenAiServer = Object.assign(stub, { bodies, video: {}, url: `${stub.url}/v1` })
  return server
}

const serve = (route: string, body: Body, response: ServerResponse, { video }: OpenAiServer) => {
  switch (route) {
    // https://platform.openai.com/docs/api-reference/models/list
    case 'GET /v1/models':
      return reply(response, 200, {
        object: 'list',
        data: [{ id: 'gpt-x', object: 'model', created: 1, owned_by: 'o' }],
      })
    // https://platform.openai.com/docs/api-reference/chat/object
    case 'POST /v1/chat/completions':
      return reply(response, 200, completion({ content: `You said ${JSON.stringify(body['messages'])}` }))
    // https://platform.openai.com/docs/api-reference/images/object
    case 'POST /v1/images/generations':
    case 'POST /v1/images/edits':
      return reply(response, 200, {
        created: 1713833628,
        ...{ background: 'opaque', output_format: body['output_format'] ?? 'png', quality: 'low', size: '1024x1024' },
        data: Array.from({ length: Number(body['n'] ?? 1) }, () => ({ b64_json: PNG.toString('base64') })),
        usage: {
          ...{ total_tokens: 322, input_tokens: 50, output_tokens: 272 },
          input_tokens_details: { text_tokens: 10, image_tokens: 40 },
        },
      })
    // https://platform.openai.com/docs/api-reference/audio/createSpeech
    case 'POST /v1/audio/speech':
      return response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(SOUND)
    // https://platform.openai.com/docs/api-reference/videos/object
    case 'POST /v1/videos':
      return reply(response, 200, { ...queued, model: body['model'], seconds: body['seconds'] ?? '4' })
    case 'GET /v1/videos/video_1':
      return reply(response, 200, { ...queued, ...video })
    case 'GET /v1/videos/video_1/content':
      return response.writeHead(200, { 'Content-Type': 'video/mp4' }).end(FILM)
    case 'DELETE /v1/videos/video_1':
      return reply(response, 200, { id: 'video_1', object: 'video.deleted', deleted: true })
    default:
      return reply(response, 404, errorBody(`Invalid URL (${route})`, 'invalid_request_error'))
  }
}

export const queued = {
  ...{ id: 'video_1', object: 'video', model: 'sora-x', status: 'queued', progress: 0, created_at: 1712697600 },
  ...{ size: '1280x720', seconds: '8', completed_at: null, error: null, expires_at: null, prompt: 'a lake' },
}

export const completion = (message: object, finish_reason = 'stop') => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1741569952, model: 'gpt-x-2026-04-01' },
  choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, logprobs: null, finish_reason }],
  usage: {
    ...{ prompt_tokens: 19, completion_tokens: 10, total_tokens: 29 },
    prompt_tokens_details: { cached_tokens: 3, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 4 },
  },
  service_tier: 'default',
})

/** https://platform.openai.com/docs/guides/error-codes */
export const errorBody = (message: string, type: string, code: string | null = null) => ({
  error: { message, type, param: null, code },
})

// It quotes the end of the key; a test wants the worst.
const unauthorized = errorBody(`Incorrect API key provided: ${KEY}.`, 'invalid_request_error', 'invalid_api_key')

const refusal = (errors: object) => errorBody(JSON.stringify(errors).slice(0, 200), 'invalid_request_error')

const bodyOf = async ({ headers, body }: VendorRequest): Promise<Body> => {
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data')) return JSON.parse(body.toString())
  const form = await new Response(body, { headers: { 'Content-Type': type } }).formData()
  const parts: Body = {}
  for (const [name, value] of form)
    parts[name] =
      typeof value === 'string'
        ? value
        : { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) }
  return parts
}

const exactly = (properties: Record<string, TSchema>) => Type.Object(properties, { additionalProperties: false })
const maybe = Type.Optional
const text = Type.String({ minLength: 1 })
const oneOf = (...values: string[]) => Type.Enum(values)

const image = {
  ...{ model: text, prompt: text, size: maybe(Type.String({ pattern: '^(auto|\\d+x\\d+)$' })) },
  quality: maybe(oneOf('auto', 'low', 'medium', 'high')),
  background: maybe(oneOf('auto', 'transparent', 'opaque')),
  output_format: maybe(oneOf('png', 'jpeg', 'webp')),
}
const upload = exactly({ name: text, type: Type.String({ pattern: '^image/(png|jpeg|webp)$' }), bytes: Type.Any() })

const name = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$' })
const textPart = exactly({ type: oneOf('text'), text })
const texts = Type.Union([text, Type.Array(textPart)])
const imagePart = exactly({
  type: oneOf('image_url'),
  image_url: exactly({ url: Type.String({ pattern: '^(https?://|data:image/)' }) }),
})
const toolCall = exactly({
  ...{ id: text, type: oneOf('function') },
  function: exactly({ name, arguments: Type.String() }),
})

/** The requests as `openai`'s types declare them; forms hold text only. */
const schemas: Record<string, TSchema> = {
  'POST /v1/images/generations': exactly({
    ...image,
    n: maybe(Type.Integer({ minimum: 1, maximum: 10 })),
    output_compression: maybe(Type.Integer({ minimum: 0, maximum: 100 })),
    moderation: maybe(oneOf('auto', 'low')),
    response_format: maybe(oneOf('url', 'b64_json')),
  }),
  'POST /v1/images/edits': exactly({
    ...image,
    n: maybe(Type.String({ pattern: '^\\d+$' })),
    image: maybe(upload),
    'image[]': maybe(upload),
    input_fidelity: maybe(oneOf('low', 'high')),
    output_compression: maybe(Type.String({ pattern: '^(100|\\d?\\d)$' })),
    // https://developers.openai.com/api/reference/resources/images/methods/edit
    moderation: maybe(oneOf('auto', 'low')),
  }),
  'POST /v1/chat/completions': exactly({
    model: text,
    messages: Type.Array(
      Type.Union([
        exactly({ role: oneOf('system'), content: texts }),
        exactly({ role: oneOf('user'), content: Type.Union([text, Type.Array(Type.Union([textPart, imagePart]))]) }),
        exactly({ role: oneOf('assistant'), content: maybe(texts), tool_calls: maybe(Type.Array(toolCall)) }),
        exactly({
          role: oneOf('tool'),
          content: Type.Union([Type.String(), Type.Array(textPart)]),
          tool_call_id: text,
        }),
      ]),
      { minItems: 1 },
    ),
    tools: maybe(
      Type.Array(
        exactly({
          type: oneOf('function'),
          function: exactly({
            name,
            description: maybe(text),
            parameters: maybe(Type.Object({})),
            strict: maybe(Type.Boolean()),
          }),
        }),
      ),
    ),
    tool_choice: maybe(
      Type.Union([
        oneOf('auto', 'none', 'required'),
        exactly({ type: oneOf('function'), function: exactly({ name }) }),
      ]),
    ),
    parallel_tool_calls: maybe(Type.Boolean()),
    response_format: maybe(
      Type.Union([
        exactly({ type: oneOf('text', 'json_object') }),
        exactly({
          type: oneOf('json_schema'),
          json_schema: exactly({ name, schema: Type.Object({}), strict: maybe(Type.Boolean()) }),
        }),
      ]),
    ),
    max_completion_tokens: maybe(Type.Integer({ minimum: 1 })),
    max_tokens: maybe(Type.Integer({ minimum: 1 })),
    reasoning_effort: maybe(oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
    verbosity: maybe(oneOf('low', 'medium', 'high')),
    temperature: maybe(Type.Number({ minimum: 0, maximum: 2 })),
    seed: maybe(Type.Integer()),
    stream: maybe(Type.Literal(true)),
    stream_options: maybe(exactly({ include_usage: Type.Literal(true) })),
  }),
  'POST /v1/audio/speech': exactly({
    ...{ model: text, input: Type.String({ minLength: 1, maxLength: 4096 }), voice: text },
    instructions: maybe(text),
    response_format: maybe(oneOf('mp3', 'opus', 'aac', 'flac', 'wav', 'pcm')),
    speed: maybe(Type.Number({ minimum: 0.25, maximum: 4 })),
  }),
  'POST /v1/videos': exactly({
    ...{ model: text, prompt: text, seconds: maybe(oneOf('4', '8', '12')) },
    size: maybe(Type.String({ pattern: '^\\d+x\\d+$' })),
    input_reference: maybe(upload),
  }),
}
