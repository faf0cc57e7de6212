import type { Content, FunctionDeclaration, GenerateContentConfig, Part, ToolConfig } from '@google/genai'
import type { ContentPart, Message, ResponseFormat, Tool, ToolChoice } from '../../../../schemas/conversation.ts'
import { argumentsOf, objectIn } from '../tool-calls.ts'

/** A conversation whose images are parts already. */
interface Conversation {
  instructions: Part[]
  contents: Content[]
}

/**
 * Calls need the signature of the thought before them. One that the client has not kept may be replaced by this:
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const NO_SIGNATURE = 'skip_thought_signature_validator'

/** The contents of https://ai.google.dev/api/caching#Content. Instructions stand beside them. */
export const toConversation = (said: Message[]): Conversation => {
  const names = new Map(said.flatMap(({ tool_calls = [] }) => tool_calls.map(call => [call.id, call.function.name])))
  const instructions: Part[] = []
  const contents: (Content & { parts: Part[] })[] = []
  for (const message of said) {
    const parts = partsOf(message, names)
    if (message.role === 'system') {
      instructions.push(...parts)
      continue
    }
    const role = message.role === 'assistant' ? 'model' : 'user'
    const last = contents.at(-1)
    // The results of all calls of a turn must be in one content.
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts })
  }
  return { instructions, contents }
}

const partsOf = (
  { role, content, tool_calls: calls = [], tool_call_id: id = '' }: Message,
  names: ReadonlyMap<string, string>,
): Part[] => {
  const said = typeof content === 'string' ? [{ text: content }] : (content ?? []).map(partOf)
  if (role === 'tool') {
    const text = said.map(part => part.text ?? '').join('\n')
    return [{ functionResponse: { name: names.get(id) ?? id, response: resultOf(text) } }]
  }
  const called = calls.map((call, index) => ({
    functionCall: { name: call.function.name, args: argumentsOf(call) },
    // Only the first of several calls has one.
    ...(index === 0 && { thoughtSignature: NO_SIGNATURE }),
  }))
  return [...said.filter(({ text }) => text !== ''), ...called]
}

const partOf = (part: ContentPart): Part =>
  part.type === 'text' ? { text: part.text } : (part.image_url as unknown as Part)

/** The API takes an object. */
const resultOf = (text: string): Record<string, unknown> => objectIn(text) ?? { output: text }

interface Offer {
  tools?: Tool[]
  tool_choice?: ToolChoice
}

interface Options {
  tools?: { functionDeclarations: FunctionDeclaration[] }[]
  toolConfig?: ToolConfig
}

/** https://ai.google.dev/gemini-api/docs/function-calling */
export const toTools = ({ tools = [], tool_choice: choice = 'auto' }: Offer): Options =>
  tools.length === 0
    ? {}
    : {
        tools: [{ functionDeclarations: tools.map(toDeclaration) }],
        toolConfig: { functionCallingConfig: toConfig(choice) as NonNullable<ToolConfig['functionCallingConfig']> },
      }

const toDeclaration = ({ function: { name, description, parameters } }: Tool): FunctionDeclaration => ({
  name,
  ...(description !== undefined && { description }),
  ...(parameters && { parametersJsonSchema: parameters }),
})

const MODES = { auto: 'AUTO', none: 'NONE', required: 'ANY' } as const

const toConfig = (choice: ToolChoice) =>
  typeof choice === 'object' ? { mode: 'ANY', allowedFunctionNames: [choice.function.name] } : { mode: MODES[choice] }

/** https://ai.google.dev/gemini-api/docs/structured-output */
export const toForm = (format: ResponseFormat = { type: 'text' }): GenerateContentConfig => ({
  ...(format.type !== 'text' && { responseMimeType: 'application/json' }),
  ...(format.type === 'json_schema' && { responseJsonSchema: format.json_schema.schema }),
})
