import { type Static, Type } from 'typebox'
import { Closed } from './primitives.ts'

// Conversations have the form of https://platform.openai.com/docs/api-reference/chat/create, which most clients know.

/** A call of a function that the client has offered to the model. `arguments` is JSON, as the model wrote it. */
export const ToolCall = Closed({
  id: Type.String(),
  type: Type.Literal('function'),
  function: Closed({ name: Type.String(), arguments: Type.String() }),
})
export type ToolCall = Static<typeof ToolCall>

/** A part of the content of a message. Only users send images. */
export type ContentPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

/** A message. Only one with tool calls may lack its content. `tool_call_id` names the call that a tool answers. */
export interface Message {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content?: string | ContentPart[]
  tool_calls?: ToolCall[]
  tool_call_id?: string
}

/** A function that the model may call. `parameters` is a JSON Schema. */
export interface Tool {
  type: 'function'
  function: { name: string; description?: string; parameters?: Record<string, unknown>; strict?: boolean }
}

export type ToolChoice = 'auto' | 'none' | 'required' | { type: 'function'; function: { name: string } }

/** The form of the answer: text, any JSON object, or JSON that matches a schema. */
export type ResponseFormat =
  | { type: 'text' | 'json_object' }
  | { type: 'json_schema'; json_schema: { name: string; schema: Record<string, unknown>; strict?: boolean } }
