import type { Anthropic } from '@anthropic-ai/sdk'
import type { Message } from '../../../../schemas/conversation.ts'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { Done, Failed, Work } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { completeCalls, toolCall } from '../tool-calls.ts'
import { jobFailed, TOO_SHORT } from '../upstream-call.ts'
import { toConversation, toOptions } from './conversation.ts'

/** The newer version refuses sampling parameters: https://platform.claude.com/docs/en/api/versioning */
export type ApiVersion = '2023-06-01' | '2026-10-21'

export const versionFor = (parameters: Record<string, unknown>): ApiVersion =>
  ['temperature', 'top_k', 'top_p'].some(name => name in parameters) ? '2023-06-01' : '2026-10-21'

/**
 * The request of https://platform.claude.com/docs/en/api/messages. The parameters are those of the API, except that a
 * `prompt`, with an optional `image`, may replace `messages`, and that conversation, tools and form of the answer are
 * those of a run.
 */
export const toRequest = (
  model: string,
  { prompt, image, system, messages: said, ...given }: Record<string, unknown>,
): Anthropic.MessageCreateParamsNonStreaming => {
  const { tools, tool_choice, parallel_tool_calls, response_format, ...rest } = given
  const text = prompt as string
  const content = image === undefined ? text : [image as Anthropic.ImageBlockParam, { type: 'text' as const, text }]
  const { instructions, messages } = said
    ? toConversation(said as Message[])
    : { instructions: [], messages: [{ role: 'user' as const, content }] }
  const told = [system, ...instructions].filter(Boolean)
  return {
    messages,
    ...(rest as { max_tokens: number }),
    ...toOptions({ tools, tool_choice, parallel_tool_calls, response_format } as Parameters<typeof toOptions>[0]),
    ...(told.length > 0 && { system: told.join('\n\n') }),
    model,
  }
}

export const toImageBlock = ({ mimeType, bytes }: InputMedia, files: LargeFiles): Anthropic.ImageBlockParam => ({
  type: 'image',
  source: {
    type: 'base64',
    media_type: mimeType as Anthropic.Base64ImageSource['media_type'],
    data: files.toBase64(bytes),
  },
})

export const outcomeOf = (answer: Anthropic.Message | null): Done | Failed => {
  const { content, stop_reason: reason, model, usage }: Partial<Anthropic.Message> = answer ?? {}
  const work: Work = {
    ...(typeof model === 'string' && { version: model }),
    units: unitsOf(usage),
  }
  if (reason === 'refusal') return { ...jobFailed('content_rejected'), work }
  const blocks = Array.isArray(content) ? content : []
  const text = blocks.map(textOf).join('')
  const calls = completeCalls(blocks.flatMap(callOf))
  const isCut = reason === 'max_tokens' || reason === 'model_context_window_exceeded'
  if (text || calls.toolCalls)
    return { kind: 'done', media: [], ...(text && { text }), ...calls, ...(isCut && { finish: 'length' }), work }
  const message = isCut ? TOO_SHORT : 'The provider returned no text.'
  return { kind: 'failed', code: 'provider_error', message, work }
}

const textOf = (block: Anthropic.ContentBlock | null) =>
  block?.type === 'text' && typeof block.text === 'string' ? block.text : ''

/** The input of a call that was streamed is the text of it. */
const callOf = (block: Anthropic.ContentBlock | null) => {
  if (block?.type !== 'tool_use') return []
  const { id, name, input } = block
  return toolCall(String(id), String(name), typeof input === 'string' ? input || '{}' : JSON.stringify(input ?? {}))
}

/** The number of tokens, and of uses of tools that cost extra. */
const unitsOf = (usage: unknown): Record<string, number> => {
  const { server_tool_use: tools, ...tokens } = (usage ?? {}) as Record<string, unknown>
  const counts = Object.entries({ ...tokens, ...(tools ?? {}) })
  return Object.fromEntries(counts.filter((count): count is [string, number] => Number.isFinite(count[1])))
}
