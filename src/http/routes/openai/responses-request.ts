import type { ChatRequest } from '../../../../schemas/api/openai/chat.ts'
import type { ResponseRequest } from '../../../../schemas/api/openai/responses.ts'
import type { ParametersSchema } from '../../../../schemas/catalog.ts'
import { placeFault } from '../../../transports/moment.ts'
import { type NeutralValues, passedThrough, underOtherNames } from './pass-through.ts'
import { conversationOf, type Members, present, refuse } from './responses-input.ts'

/** A chat, and the place in the client's request of a place in it, such as `input/0` of `messages/1`. */
export interface TranslatedRequest {
  chat: ChatRequest
  placeOf: (place: string) => string
}

/** The chat that a request for a response asks for. Throws invalid_request with the place of what no chat has. */
export const chatOf = (request: ResponseRequest & Members, schema: ParametersSchema): TranslatedRequest => {
  const stored = STORED.find(name => request[name])
  if (stored !== undefined) throw placeFault(stored, `is not supported, since the service stores no ${STORES}`, 'body')
  const { model, input, instructions, reasoning = {}, text = {}, stream_options: options = {}, ...others } = request
  const { tools, tool_choice: choice, max_tool_calls: _, ...given } = others
  const { effort = null, ...furtherReasoning } = reasoning
  const { format = null, verbosity = null, ...furtherText } = text
  refuse(furtherReasoning, 'reasoning', { context: ['auto'], mode: ['standard'] })
  refuse(furtherText, 'text')
  refuse(options, 'stream_options', { include_obfuscation: [false] })
  const { messages, places } = conversationOf(instructions, input)
  const response_format = format === null ? null : formatIn(Object(format))
  const renamed = { messages, ...present({ reasoning_effort: effort, verbosity, response_format }) }
  for (const [name, place] of Object.entries(chatNames)) if (!Object.hasOwn(given, name)) places.set(name, place)
  return {
    chat: {
      ...underOtherNames(renamed, passedThrough(given, schema, neutral), chatNames),
      ...{ model, messages },
      ...(tools && { tools: tools.map(toolIn) }),
      ...(choice !== undefined && { tool_choice: choiceIn(choice) }),
    },
    placeOf: place => placeIn(places, place),
  }
}

/** The parameters for what OpenAI stores. */
const STORED = ['store', 'background', 'conversation', 'previous_response_id', 'prompt']
const STORES = 'responses, conversations or prompts'

/** The places in the client's request of what a chat has elsewhere. */
const chatNames = {
  ...{ messages: 'input', prompt: 'input', response_format: 'text/format' },
  ...{ reasoning_effort: 'reasoning/effort', verbosity: 'text/verbosity' },
}

/**
 * https://platform.openai.com/docs/api-reference/responses/create: the defaults, and what switches a parameter off.
 * No answer has a reasoning item, encrypted or not. `max_tool_calls` limits only tools that the service does not have.
 */
const neutral: NeutralValues = {
  ...{ background: [false], include: [[], ['reasoning.encrypted_content']], truncation: ['disabled'] },
  ...{ context_management: [[]], prompt_cache_retention: ['in_memory'] },
}

/** The schema of the model checks the rest. */
const toolIn = ({ type, ...tool }: Members, index: number): Members => {
  if (type !== 'function') throw placeFault(`tools/${index}/type`, 'must be function', 'body')
  return { type, function: present(tool, { defer_loading: [false] }) }
}

const choiceIn = (choice: string | Members): string | Members => {
  if (typeof choice === 'string') return choice
  const { type, ...named } = choice
  if (type !== 'function') throw placeFault('tool_choice/type', 'must be function', 'body')
  return { type, function: named }
}

const formatIn = ({ type, ...format }: Members): Members =>
  type === 'json_schema' ? { type, json_schema: present(format) } : { type, ...present(format) }

/** The segments that only a chat has. */
const CHATS_OWN = new Set(['function', 'json_schema', 'url'])

const placeIn = (places: ReadonlyMap<string, string>, place: string): string => {
  const segments = place.split('/')
  const start = (length: number) => segments.slice(0, length).join('/')
  let length = segments.length
  while (length > 0 && !places.has(start(length))) length--
  const rest = segments.slice(length).filter(segment => !CHATS_OWN.has(segment))
  return [places.get(start(length)) ?? [], rest].flat().join('/')
}
