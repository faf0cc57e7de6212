import type { Anthropic } from '@anthropic-ai/sdk'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { ProviderOutcome, Work } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { jobFailed, type UpstreamCall } from '../upstream-call.ts'
import { type ApiVersion, through } from './client.ts'

/** Parameters that only the older version of the API accepts. */
const SAMPLING = ['temperature', 'top_k', 'top_p']

/** Far longer than any model ID. */
const MAX_VERSION_LENGTH = 200

/**
 * https://platform.claude.com/docs/en/api/messages. The parameters are those of the API, except that a `prompt`, with
 * an optional `image`, may replace `messages`.
 */
export const createMessage = async (
  client: Anthropic,
  model: string,
  parameters: Record<string, unknown>,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<ProviderOutcome> => {
  const version: ApiVersion = SAMPLING.some(name => name in parameters) ? '2023-06-01' : '2026-10-21'
  return outcomeOf(await client.messages.create(toRequest(model, parameters), through(call, version, signal)))
}

const toRequest = (model: string, { prompt, image, system, ...rest }: Record<string, unknown>) => {
  const content = image === undefined ? prompt : [image, { type: 'text', text: prompt }]
  return {
    ...(prompt !== undefined && { messages: [{ role: 'user', content }] }),
    ...rest,
    ...(system !== '' && { system }),
    model,
  } as unknown as Anthropic.MessageCreateParamsNonStreaming
}

export const toImageBlock = ({ mimeType, bytes }: InputMedia, files: LargeFiles) => ({
  type: 'image',
  source: { type: 'base64', media_type: mimeType, data: files.toBase64(bytes) },
})

/** The client returns text if a proxy answers instead of the API. */
const outcomeOf = (answer: unknown): ProviderOutcome => {
  const { content, stop_reason: reason, model, usage } = (answer ?? {}) as Partial<Anthropic.Message>
  const work: Work = {
    ...(typeof model === 'string' && { version: model.slice(0, MAX_VERSION_LENGTH) }),
    units: unitsOf(usage),
  }
  if (reason === 'refusal') return { ...jobFailed('content_rejected'), work }
  const text = Array.isArray(content) ? content.map(textOf).join('') : ''
  if (text) return { kind: 'done', media: [], text, work }
  const message = reason === 'max_tokens' ? TOO_SHORT : 'The provider returned no text.'
  return { kind: 'failed', code: 'provider_error', message, work }
}

const TOO_SHORT = 'The model used the whole length of the answer for thinking. Allow a longer answer.'

const textOf = (block: Anthropic.ContentBlock | null) =>
  block?.type === 'text' && typeof block.text === 'string' ? block.text : ''

/** The number of tokens, and of uses of tools that cost extra. */
const unitsOf = (usage: unknown): Record<string, number> => {
  const { server_tool_use: tools, ...tokens } = (usage ?? {}) as Record<string, unknown>
  const counts = Object.entries({ ...tokens, ...(tools ?? {}) })
  return Object.fromEntries(counts.filter((count): count is [string, number] => Number.isFinite(count[1])))
}
