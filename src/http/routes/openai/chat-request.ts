import type { ChatMessage, ChatRequest } from '../../../../schemas/api/openai/chat.ts'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { ParametersSchema } from '../../../../schemas/catalog.ts'
import { placeFault } from '../../../transports/moment.ts'
import { metadataOf, type NeutralValues, passedThrough } from './pass-through.ts'

/** The run that a chat asks for. Throws invalid_request with the place of what no model can do. */
export const chatRun = (
  { model, messages, metadata, user, safety_identifier, prompt_cache_key: _, ...parameters }: ChatRequest,
  schema: ParametersSchema,
): RunRequest => {
  const { stream, stream_options: options, ...rest } = parameters
  if (options && !stream) throw placeFault('stream_options', 'needs stream: true', 'body')
  return {
    model,
    input: { ...conversation(messages.map(spoken), schema), ...passedThrough(rest, schema, neutral) },
    ...metadataOf({
      ...(metadata && { metadata }),
      ...(user !== undefined && { user }),
      ...(safety_identifier !== undefined && { safety_identifier }),
    }),
  }
}

/** https://platform.openai.com/docs/api-reference/chat/create: the defaults, and what switches a parameter off. */
const neutral: NeutralValues = {
  ...{ n: [1], store: [false], logprobs: [false], top_logprobs: [0], logit_bias: [{}], stop: [[]] },
  ...{ presence_penalty: [0], frequency_penalty: [0], temperature: [1], top_p: [1] },
  ...{ response_format: [{ type: 'text' }], modalities: [['text']], service_tier: ['auto', 'default'] },
  ...{ tools: [[]], functions: [[]], tool_choice: ['auto', 'none'], parallel_tool_calls: [true, false] },
}

interface Spoken {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Models without conversations take one message as their prompt. */
const conversation = (messages: Spoken[], { properties }: ParametersSchema) => {
  if (Object.hasOwn(properties, 'messages')) return { messages }
  const [only, ...others] = messages
  if (only?.role === 'user' && others.length === 0) return { prompt: only.content }
  throw placeFault('messages', 'must be one message of the user, since the model has no conversations', 'body')
}

const spoken = ({ role, content, ...further }: ChatMessage, index: number): Spoken => {
  const place = `messages/${index}`
  // Clients send earlier answers back, whose other members are empty.
  const unknown = Object.keys(further).find(name => !isEmpty(further[name]))
  if (unknown !== undefined) throw placeFault(`${place}/${unknown}`, 'is not supported', 'body')
  return { role: role === 'developer' ? 'system' : role, content: textIn(content, `${place}/content`) }
}

const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0)

/** The text of a message, whose parts are lines. */
const textIn = (content: unknown, place: string): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw placeFault(place, 'must be a text or a list of text parts', 'body')
  return content.map((part, index) => textOf(part, `${place}/${index}`)).join('\n')
}

const textOf = (part: unknown, place: string): string => {
  const { type, text } = Object(part) as { type?: unknown; text?: unknown }
  if (type !== 'text') throw placeFault(place, 'must be a part of the type text: no other type is supported', 'body')
  if (typeof text !== 'string') throw placeFault(`${place}/text`, 'must be a string', 'body')
  return text
}
