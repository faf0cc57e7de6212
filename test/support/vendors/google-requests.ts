import { Ajv } from 'ajv'

const closed = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const text = { type: 'string', minLength: 1 }
const blob = closed({ mimeType: text, data: text }, ['mimeType', 'data'])
const name = { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' }
const call = closed(
  { functionCall: closed({ id: text, name, args: { type: 'object' } }, ['name']), thoughtSignature: text },
  ['functionCall'],
)
const result = closed(
  { functionResponse: closed({ id: text, name, response: { type: 'object' } }, ['name', 'response']) },
  ['functionResponse'],
)
const content = closed(
  {
    role: { enum: ['user', 'model'] },
    parts: {
      type: 'array',
      minItems: 1,
      items: { anyOf: [closed({ text }, ['text']), closed({ inlineData: blob }), call, result] },
    },
  },
  ['parts'],
)

/** https://ai.google.dev/api/generate-content#request-body, as far as Tollgate sends it. */
const generateContent = closed(
  {
    contents: { type: 'array', minItems: 1, items: content },
    systemInstruction: content,
    safetySettings: {
      type: 'array',
      items: closed({
        category: { type: 'string', pattern: '^HARM_CATEGORY_' },
        threshold: { enum: ['BLOCK_LOW_AND_ABOVE', 'BLOCK_MEDIUM_AND_ABOVE', 'BLOCK_ONLY_HIGH', 'BLOCK_NONE', 'OFF'] },
      }),
    },
    tools: {
      type: 'array',
      items: closed({
        googleSearch: closed({}),
        functionDeclarations: {
          type: 'array',
          items: closed({ name, description: text, parametersJsonSchema: { type: 'object' } }, ['name']),
        },
      }),
    },
    toolConfig: closed({
      functionCallingConfig: closed({
        mode: { enum: ['AUTO', 'ANY', 'NONE'] },
        allowedFunctionNames: { type: 'array', items: name },
      }),
    }),
    generationConfig: closed({
      temperature: { type: 'number', minimum: 0, maximum: 2 },
      topP: { type: 'number' },
      topK: { type: 'integer' },
      seed: { type: 'integer' },
      maxOutputTokens: { type: 'integer', minimum: 1 },
      responseMimeType: { const: 'application/json' },
      responseJsonSchema: { type: 'object' },
      responseModalities: { type: 'array', items: { enum: ['TEXT', 'IMAGE', 'AUDIO'] } },
      thinkingConfig: closed({
        includeThoughts: { type: 'boolean' },
        thinkingBudget: { type: 'integer' },
        thinkingLevel: { enum: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'minimal', 'low', 'medium', 'high'] },
      }),
      imageConfig: closed({
        aspectRatio: { type: 'string', pattern: '^\\d+:\\d+$' },
        imageSize: { enum: ['512', '1K', '2K', '4K'] },
      }),
    }),
  },
  ['contents'],
)

/** https://ai.google.dev/gemini-api/docs/video#veo-model-parameters, in the form that the client sends. */
const generateVideos = closed(
  {
    instances: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: closed({ prompt: text, image: closed({ bytesBase64Encoded: text, mimeType: text }) }),
    },
    parameters: closed({
      aspectRatio: { enum: ['16:9', '9:16'] },
      durationSeconds: { enum: [4, 6, 8] },
      resolution: { enum: ['720p', '1080p', '4k'] },
      negativePrompt: text,
      personGeneration: { enum: ['allow_all', 'allow_adult', 'dont_allow'] },
      sampleCount: { type: 'integer' },
    }),
  },
  ['instances'],
)

/** https://ai.google.dev/api/interactions-api#CreateInteraction */
const interactions = closed(
  {
    model: text,
    input: {
      anyOf: [
        text,
        {
          type: 'array',
          items: {
            anyOf: [
              closed({ type: { const: 'text' }, text }, ['type', 'text']),
              closed({ type: { const: 'image' }, mime_type: text, data: text }, ['type', 'mime_type', 'data']),
            ],
          },
        },
      ],
    },
    background: { type: 'boolean' },
    store: { type: 'boolean' },
    stream: { const: false },
    response_format: { type: 'object', properties: { type: text }, required: ['type'] },
    response_modalities: { type: 'array', items: { enum: ['text', 'image', 'audio', 'video'] } },
  },
  ['model', 'input'],
)

const ajv = new Ajv({ strict: false })

/** What Google would refuse in a request to this path; undefined if nothing. */
export const faultIn = (path: string, body: Buffer): string | undefined => {
  const check = checks.find(([pattern]) => pattern.test(path))?.[1]
  if (!check || check(JSON.parse(body.toString()))) return undefined
  return `Invalid JSON payload received. ${ajv.errorsText(check.errors)}`
}

const checks = [
  [/^\/v1beta\/models\/[\w.-]+:(generateContent|streamGenerateContent\?alt=sse)$/, ajv.compile(generateContent)],
  [/^\/v1beta\/models\/[\w.-]+:predictLongRunning$/, ajv.compile(generateVideos)],
  [/^\/v1beta\/interactions$/, ajv.compile(interactions)],
] as const
