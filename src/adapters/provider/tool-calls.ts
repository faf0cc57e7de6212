import { randomUUID } from 'node:crypto'
import type { ToolCall } from '../../../schemas/conversation.ts'

type JsonObject = Record<string, unknown>

/** The arguments of a call, for vendors that take them as an object. Models may write something else. */
export const argumentsOf = ({ function: { arguments: text } }: ToolCall): JsonObject =>
  objectIn(text) ?? { arguments: text }

/** The tool calls of an answer. A call that the longest answer has cut off is none. */
export const completeCalls = (calls: readonly ToolCall[]): { toolCalls?: ToolCall[] } => {
  const toolCalls = calls.filter(call => call.function.name !== '' && jsonIn(call.function.arguments) !== undefined)
  return toolCalls.length > 0 ? { toolCalls } : {}
}

/** The memory of a call without its texts. */
const CALL_BYTES = 200

/** The memory of a new call in an answer that is arriving. */
export const callBytes = (...texts: unknown[]): number =>
  texts.map(textBytes).reduce((sum, each) => sum + each, CALL_BYTES)

export const textBytes = (text: unknown): number => (typeof text === 'string' ? Buffer.byteLength(text) : 0)

/** Older models and some servers give their calls no IDs. */
export const toolCall = (id: string | undefined, name: string, given: string): ToolCall => ({
  id: id || `call_${randomUUID()}`,
  type: 'function',
  function: { name, arguments: given },
})

/** Undefined if the text is not a JSON object. */
export const objectIn = (text: string): JsonObject | undefined => {
  const value = jsonIn(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
}

/** Undefined if the text is not JSON. */
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
