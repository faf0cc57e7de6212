import type { ToolCall } from '../../../schemas/conversation.ts'

type Arguments = Record<string, unknown>

/** The arguments of a call, for vendors that take them as an object. Models may write something else. */
export const argumentsOf = ({ function: { arguments: text } }: ToolCall): Arguments => {
  const value = jsonIn(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Arguments)
    : { arguments: text }
}

/** The tool calls of an answer. A call that the longest answer has cut off is none. */
export const completeCalls = (calls: readonly ToolCall[]): { toolCalls?: ToolCall[] } => {
  const toolCalls = calls.filter(call => call.function.name !== '' && jsonIn(call.function.arguments) !== undefined)
  return toolCalls.length > 0 ? { toolCalls } : {}
}

export const toolCall = (id: string, name: string, given: string): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: given },
})

/** Undefined if the text is not JSON. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
