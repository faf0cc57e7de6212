import type { ChatMessage } from '../../../../schemas/api/openai/chat.ts'
import type { ContentPart } from '../../../../schemas/conversation.ts'
import { placeFault } from '../../../transports/moment.ts'
import { effective, type NeutralValues } from './pass-through.ts'

export type Members = Record<string, unknown>

/** The messages of a chat, and the places in the client's request of those in the chat. */
export interface Conversation {
  messages: ChatMessage[]
  places: Map<string, string>
}

/** The conversation in a request for a response. Throws invalid_request with the place of what no chat has. */
export const conversationOf = (instructions: string | undefined, input: string | unknown[]): Conversation => {
  const to: Conversation = { messages: [], places: new Map() }
  if (instructions) add(to, { role: 'system', content: instructions }, 'instructions', '')
  if (typeof input === 'string') add(to, { role: 'user', content: input }, 'input', '')
  else for (const [index, item] of input.entries()) addItem(to, Object(item), `input/${index}`)
  return to
}

/** Throws for a member that would change something. */
export const refuse = (members: Members, place: string, neutral: NeutralValues = {}) => {
  const [name] = Object.keys(present(members, neutral))
  if (name !== undefined) throw placeFault(`${place}/${name}`, 'is not supported', 'body')
}

/** The members that are not null, and may change something. */
export const present = (members: Members, neutral: NeutralValues = {}) =>
  effective(members, { type: 'object', properties: {}, additionalProperties: false }, neutral)

/** Clients send earlier answers back, with their IDs and what they have parsed. */
const addItem = (to: Conversation, { id: _, status: _status, type = 'message', ...item }: Members, place: string) => {
  if (type === 'function_call') return addCall(to, item, place)
  if (type === 'function_call_output') {
    const { call_id: tool_call_id, output, ...further } = item
    refuse(further, place)
    return add(to, { role: 'tool', tool_call_id, content: contentIn(output, `${place}/output`) }, place, '/output')
  }
  if (type !== 'message') throw placeFault(place, itemFaults.get(type) ?? ITEM_FAULT, 'body')
  const { role, content, ...further } = item
  if (!isSpeaker(role)) throw placeFault(`${place}/role`, `must be one of ${SPEAKERS.join(', ')}`, 'body')
  refuse(further, place)
  return add(to, { role, content: contentIn(content, `${place}/content`) }, place)
}

const ITEM_FAULT = 'must be an item of the type message, function_call or function_call_output'

const itemFaults = new Map<unknown, string>([
  ['item_reference', 'refers to a stored item, but the service stores none: send store: false, and the item itself'],
  ['reasoning', 'is an item of the type reasoning, which no answer of the service has: leave it out'],
])

const SPEAKERS = ['user', 'assistant', 'system', 'developer'] as const

const isSpeaker = (role: unknown): role is (typeof SPEAKERS)[number] => SPEAKERS.some(speaker => speaker === role)

const add = ({ messages, places }: Conversation, message: ChatMessage, place: string, ofContent = '/content') => {
  const at = `messages/${messages.push(message) - 1}`
  places
    .set(at, place)
    .set(`${at}/content`, place + ofContent)
    .set(`${at}/tool_call_id`, `${place}/call_id`)
}

/** The text and the calls of one answer are one message. The schema of the model checks the rest. */
const addCall = (to: Conversation, { call_id: id, parsed_arguments: _, ...call }: Members, place: string) => {
  const { messages, places } = to
  if (messages.at(-1)?.role !== 'assistant') add(to, { role: 'assistant' }, place)
  const message = messages.at(-1) as ChatMessage & { tool_calls?: Members[] }
  message.tool_calls ??= []
  const index = message.tool_calls.push({ id, type: 'function', function: present(call) }) - 1
  const at = `messages/${messages.length - 1}/tool_calls/${index}`
  places.set(at, place).set(`${at}/id`, `${place}/call_id`)
}

const contentIn = (content: unknown, place: string): string | ContentPart[] => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw placeFault(place, 'must be a text or a list of parts', 'body')
  return content.map((part, index) => partIn(Object(part), `${place}/${index}`))
}

/** The schema of the model checks the rest. */
const partIn = ({ type, parsed: _, ...members }: Members, place: string): ContentPart => {
  switch (type) {
    case 'input_text':
    case 'output_text': {
      const { text, ...further } = members
      refuse(further, place, { annotations: [[]], logprobs: [[]] })
      return { type: 'text', ...(text !== undefined && { text }) } as ContentPart
    }
    case 'input_image': {
      const { image_url: url, ...further } = members
      refuse(further, place, { detail: ['auto'] })
      return { type: 'image_url', image_url: { ...(url !== undefined && { url }) } } as ContentPart
    }
    default:
      throw placeFault(place, 'must be a part of the type input_text, output_text or input_image', 'body')
  }
}
