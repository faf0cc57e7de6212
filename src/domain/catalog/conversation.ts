import type { ContentPart, Message, ResponseFormat, Tool, ToolChoice } from '../../../schemas/conversation.ts'

interface Fault {
  path: string
  message: string
}

/** The faults of a conversation that is valid by its schema: members that do not fit the role of their message. */
export const conversationFaults = (messages: Message[]): Fault[] =>
  messages.flatMap((message, index) => faultsOf(message).map(at(`/messages/${index}`)))

/** The fault of a form of the answer that is valid by its schema: the member that its type needs, or does not know. */
export const formFaults = (format: ResponseFormat = { type: 'text' }): Fault[] => {
  const has = Object.hasOwn(format, 'json_schema')
  if (has === (format.type === 'json_schema')) return []
  const message = has ? `is not for the type ${format.type}` : 'is required'
  return [{ path: '/response_format/json_schema', message }]
}

/** The fault of a choice of a tool that the input does not offer. */
export const choiceFaults = (choice: ToolChoice = 'auto', tools: Tool[] = []): Fault[] => {
  if (choice === 'required' && tools.length === 0) return [{ path: '/tool_choice', message: 'needs tools' }]
  if (typeof choice === 'string' || tools.some(tool => tool.function.name === choice.function.name)) return []
  return [{ path: '/tool_choice/function/name', message: 'must be the name of one of the tools' }]
}

const faultsOf = ({ role, content, tool_calls, tool_call_id }: Message): Fault[] => [
  ...(content === undefined && !tool_calls ? [{ path: '/content', message: 'is required' }] : []),
  ...(content === '' && !tool_calls && role !== 'tool' ? [{ path: '/content', message: 'must not be empty' }] : []),
  ...(tool_calls && role !== 'assistant' ? [{ path: '/tool_calls', message: onlyFor('assistant') }] : []),
  ...(tool_call_id !== undefined && role !== 'tool' ? [{ path: '/tool_call_id', message: onlyFor('tool') }] : []),
  ...(tool_call_id === undefined && role === 'tool' ? [{ path: '/tool_call_id', message: 'is required' }] : []),
  ...(Array.isArray(content) ? content : []).flatMap((part, index) =>
    partFaults(part, role).map(at(`/content/${index}`)),
  ),
]

const partFaults = (part: ContentPart, role: Message['role']): Fault[] => {
  if (part.type === 'image_url' && role !== 'user') return [{ path: '/type', message: 'must be text in this role' }]
  if (part.type === 'text' && part.text === '') return [{ path: '/text', message: 'must not be empty' }]
  const other = part.type === 'text' ? 'image_url' : 'text'
  if (!Object.hasOwn(part, part.type)) return [{ path: `/${part.type}`, message: 'is required' }]
  return Object.hasOwn(part, other)
    ? [{ path: `/${other}`, message: `is not for a part of the type ${part.type}` }]
    : []
}

const onlyFor = (role: Message['role']) => `is only for messages with the role ${role}`

const at =
  (place: string) =>
  ({ path, message }: Fault): Fault => ({ path: place + path, message })
