import type { ChatMessage, ChatRequest } from '../../../../schemas/api/openai/chat.ts'
import type { RunRequest } from '../../../../schemas/api/run.ts'
import type { ParametersSchema } from '../../../../schemas/catalog.ts'
import type { ContentPart, Message } from '../../../../schemas/conversation.ts'
import { placeFault } from '../../../transports/moment.ts'
import { metadataOf, type NeutralValues, passedThrough, storeOf } from './pass-through.ts'
import { type Members, refuse } from './responses-input.ts'

/** The run that a chat asks for. Throws invalid_request with the place of what no model can do. */
export const chatRun = (
  { model, messages, metadata, user, safety_identifier, prompt_cache_key: _, ...parameters }: ChatRequest,
  schema: ParametersSchema,
): RunRequest => {
  const { stream, stream_options: options, ...rest } = parameters
  if (options && !stream) throw placeFault('stream_options', 'needs stream: true', 'body')
  const { include_usage: _usage, ...furtherOptions } = (options ?? {}) as Members
  refuse(furtherOptions, 'stream_options', { include_obfuscation: [false] })
  return {
    model,
    input: { ...conversation(messages.map(spoken), schema), ...passedThrough(rest, schema, neutralIn(rest)) },
    ...storeOf(rest),
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
  ...{ tools: [[]], functions: [[]], tool_choice: ['auto', 'none'], parallel_tool_calls: [true] },
  ...{ function_call: ['auto', 'none'], prompt_cache_retention: ['in_memory'] },
}

/** Without tools, no call can be parallel. */
const neutralIn = ({ tools }: Record<string, unknown>): NeutralValues =>
  Array.isArray(tools) && tools.length > 0 ? neutral : { ...neutral, parallel_tool_calls: [true, false] }

/** Models without conversations take one message as their prompt. */
const conversation = (messages: Message[], { properties }: ParametersSchema) => {
  if (Object.hasOwn(properties, 'messages')) return { messages }
  const [only, ...others] = messages
  if (only?.role === 'user' && others.length === 0) return { prompt: textIn(only.content) }
  throw placeFault('messages', 'must be one message of the user, since the model has no conversations', 'body')
}

/** Clients send earlier answers back, whose other members are empty. */
const spoken = ({ role, content, tool_calls, tool_call_id, ...further }: ChatMessage, index: number): Message => {
  const place = `messages/${index}`
  const unknown = Object.keys(further).find(name => !isEmpty(further[name]))
  if (unknown !== undefined) throw placeFault(`${place}/${unknown}`, 'is not supported', 'body')
  return {
    role: role === 'developer' ? 'system' : role,
    ...(!isEmpty(content) && { content: contentIn(content, `${place}/content`) }),
    ...(!isEmpty(tool_calls) && { tool_calls: tool_calls as NonNullable<Message['tool_calls']> }),
    ...(!isEmpty(tool_call_id) && { tool_call_id: tool_call_id as string }),
  }
}

const isEmpty = (value: unknown) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

const contentIn = (content: unknown, place: string): string | ContentPart[] => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw placeFault(place, 'must be a text or a list of parts', 'body')
  return content.map((part, index) => partIn(part, `${place}/${index}`))
}

/** The schema of the model checks the rest. */
const partIn = (part: unknown, place: string): ContentPart => {
  const { type, image_url: image } = Object(part) as { type?: unknown; image_url?: unknown }
  if (type === 'text') return part as ContentPart
  if (type !== 'image_url') throw placeFault(place, 'must be a part of the type text or image_url', 'body')
  const { detail, ...address } = Object(image) as { detail?: unknown; url: string }
  if (!isEmpty(detail) && detail !== 'auto') throw placeFault(`${place}/image_url/detail`, 'must be auto', 'body')
  return { ...(part as ContentPart & { type: 'image_url' }), image_url: address }
}

/** The text of a message, whose parts are lines. */
const textIn = (content: Message['content'] = ''): string => {
  if (typeof content === 'string') return content
  const isText = content.every(part => part.type === 'text')
  if (!isText) throw placeFault('messages/0/content', 'must be text, since the model sees no images', 'body')
  return content.map(({ text }) => text).join('\n')
}
