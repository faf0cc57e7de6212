import type { Anthropic } from '@anthropic-ai/sdk'
import type { ContentPart, Message, ResponseFormat, Tool, ToolChoice } from '../../../../schemas/conversation.ts'
import { argumentsOf } from '../tool-calls.ts'

type Block = Anthropic.ContentBlockParam

/** A conversation whose images are blocks already. */
interface Conversation {
  instructions: string[]
  messages: Anthropic.MessageParam[]
}

/**
 * The messages of https://platform.claude.com/docs/en/api/messages. Instructions stand beside them. The results of
 * tools are blocks of a user, and all results of a turn must be in one message.
 */
export const toConversation = (said: Message[]): Conversation => {
  const instructions: string[] = []
  const messages: { role: 'user' | 'assistant'; content: Block[] }[] = []
  for (const message of said) {
    if (message.role === 'system') {
      instructions.push(textOf(message.content))
      continue
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...blocksOf(message))
    else messages.push({ role, content: blocksOf(message) })
  }
  return { instructions, messages }
}

const blocksOf = ({ role, content, tool_calls: calls = [], tool_call_id: id = '' }: Message): Block[] => {
  if (role === 'tool') return [{ type: 'tool_result', tool_use_id: id, content: textOf(content) }]
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as const] : (content ?? [])
  return [
    // The API refuses empty texts.
    ...parts.flatMap(part => (part.type === 'text' && part.text === '' ? [] : [blockOf(part)])),
    ...calls.map(call => ({
      type: 'tool_use' as const,
      id: call.id,
      name: call.function.name,
      input: argumentsOf(call),
    })),
  ]
}

const blockOf = (part: ContentPart): Block =>
  part.type === 'text' ? part : (part.image_url as unknown as Anthropic.ImageBlockParam)

export const textOf = (content: Message['content'] = ''): string =>
  typeof content === 'string' ? content : content.map(part => (part.type === 'text' ? part.text : '')).join('\n')

interface Offer {
  tools?: Tool[]
  tool_choice?: ToolChoice
  parallel_tool_calls?: boolean
  response_format?: ResponseFormat
}

type Options = Pick<Anthropic.MessageCreateParams, 'tools' | 'tool_choice' | 'output_config'>

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use and …/build-with-claude/structured-outputs */
export const toOptions = ({
  tools = [],
  tool_choice,
  parallel_tool_calls: parallel,
  response_format,
}: Offer): Options => {
  const choice = toChoice(tool_choice ?? 'auto')
  return {
    ...(tools.length > 0 && {
      tools: tools.map(toTool),
      tool_choice:
        parallel === false && choice.type !== 'none' ? { ...choice, disable_parallel_tool_use: true } : choice,
    }),
    ...(response_format?.type === 'json_schema' && {
      output_config: { format: { type: response_format.type, schema: response_format.json_schema.schema } },
    }),
  }
}

const toTool = ({ function: { name, description, parameters, strict } }: Tool): Anthropic.Tool => ({
  name,
  input_schema: { type: 'object', ...parameters },
  ...(description !== undefined && { description }),
  ...(strict !== undefined && { strict }),
})

const toChoice = (choice: ToolChoice): Anthropic.ToolChoice => {
  if (typeof choice === 'object') return { type: 'tool', name: choice.function.name }
  return { type: choice === 'required' ? 'any' : choice }
}
