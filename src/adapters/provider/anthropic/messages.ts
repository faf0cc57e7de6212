import type { Anthropic } from '@anthropic-ai/sdk'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { Done, Failed, Work } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { jobFailed, TOO_SHORT } from '../upstream-call.ts'

/** The newer version refuses sampling parameters: https://platform.claude.com/docs/en/api/versioning */
export type ApiVersion = '2023-06-01' | '2026-10-21'

export const versionFor = (parameters: Record<string, unknown>): ApiVersion =>
  ['temperature', 'top_k', 'top_p'].some(name => name in parameters) ? '2023-06-01' : '2026-10-21'

/**
 * The request of https://platform.claude.com/docs/en/api/messages. The parameters are those of the API, except that a
 * `prompt`, with an optional `image`, may replace `messages`, and that these may have the role `system`.
 */
export const toRequest = (
  model: string,
  { prompt, image, system, messages: said, ...rest }: Record<string, unknown>,
): Anthropic.MessageCreateParamsNonStreaming => {
  const text = prompt as string
  const content = image === undefined ? text : [image as Anthropic.ImageBlockParam, { type: 'text' as const, text }]
  const messages = (said ?? [{ role: 'user', content }]) as Message[]
  const instructions = [system, ...messages.filter(isInstruction).map(message => message.content)].filter(Boolean)
  return {
    messages: messages.filter(message => !isInstruction(message)) as Anthropic.MessageParam[],
    ...(rest as { max_tokens: number }),
    ...(instructions.length > 0 && { system: instructions.join('\n\n') }),
    model,
  }
}

type Message = Omit<Anthropic.MessageParam, 'role'> & { role: string }

const isInstruction = ({ role }: Message) => role === 'system'

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
  const text = Array.isArray(content) ? content.map(textOf).join('') : ''
  const isCut = reason === 'max_tokens' || reason === 'model_context_window_exceeded'
  if (text) return { kind: 'done', media: [], text, ...(isCut && { finish: 'length' }), work }
  const message = isCut ? TOO_SHORT : 'The provider returned no text.'
  return { kind: 'failed', code: 'provider_error', message, work }
}

const textOf = (block: Anthropic.ContentBlock | null) =>
  block?.type === 'text' && typeof block.text === 'string' ? block.text : ''

/** The number of tokens, and of uses of tools that cost extra. */
const unitsOf = (usage: unknown): Record<string, number> => {
  const { server_tool_use: tools, ...tokens } = (usage ?? {}) as Record<string, unknown>
  const counts = Object.entries({ ...tokens, ...(tools ?? {}) })
  return Object.fromEntries(counts.filter((count): count is [string, number] => Number.isFinite(count[1])))
}
