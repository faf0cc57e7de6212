import type {
  Candidate,
  Content,
  GenerateContentConfig,
  GenerateContentResponse,
  Part,
  SafetySetting,
  ToolConfig,
  ToolListUnion,
} from '@google/genai'
import type { Message, ResponseFormat, ToolCall } from '../../../../schemas/conversation.ts'
import type { Done, Failed, Job, Media } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { completeCalls, toolCall } from '../tool-calls.ts'
import { jobFailed, TOO_SHORT, UpstreamCall } from '../upstream-call.ts'
import type { VendorDependencies } from '../vendor.ts'
import { headersOf, urlOf } from './api.ts'
import { contentReader } from './content-stream.ts'
import { toConversation, toForm, toTools } from './conversation.ts'
import { failures } from './failures.ts'
import { contentUnitsOf, listOf, sumOf, workOf } from './usage.ts'

/** The required part of an answer. */
type Wanted = 'text' | 'media'

interface Request {
  model: string
  parameters: Record<string, unknown>
  files: LargeFiles
  signal: AbortSignal
  onText?: Job['onText']
}

/** Finish reasons that blame the content: https://ai.google.dev/api/generate-content#FinishReason */
const FORBIDDEN =
  /^(SAFETY|RECITATION|BLOCKLIST|PROHIBITED_CONTENT|SPII|IMAGE_SAFETY|IMAGE_PROHIBITED_CONTENT|IMAGE_RECITATION)$/

/**
 * https://ai.google.dev/api/generate-content: `contents`, which may be a text preceded by an `image`, and `config`, as
 * in the vendor's client. Conversation, tools and form of the answer are those of a run. `count` is not part of the
 * API: it makes this many paid calls at once.
 */
export const generateContent = async (
  dependencies: VendorDependencies,
  wanted: Wanted,
  { parameters: { count = 1, ...parameters }, ...request }: Request,
): Promise<Done | Failed> => {
  const calls = Array.from({ length: Number(count) || 1 }, () =>
    generateOnce(dependencies, wanted, { ...request, parameters }),
  )
  const results = await Promise.allSettled(calls)
  const outcomes = results.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
  const lost = results.find(result => result.status === 'rejected')
  const paid = outcomes.flatMap(({ work }) => work ?? [])
  if (lost && paid.length === 0) throw lost.reason
  const failed = outcomes.filter(outcome => outcome.kind === 'failed')
  if (lost) failed.push(jobFailed('provider_error'))
  const worst = failed.find(({ retryable }) => !retryable) ?? failed[0]
  if (!worst) return together(outcomes as Done[])
  if (paid.length === 0) return worst
  // Paid work must not be paid again.
  const { retryable: _, ...final } = worst
  return { ...final, work: sumOf(paid) }
}

const generateOnce = async (
  dependencies: VendorDependencies,
  wanted: Wanted,
  request: Request,
): Promise<Done | Failed> => {
  const { model, signal, parameters, files, onText } = request
  const call = new UpstreamCall(dependencies.request, files)
  try {
    const sent = { headers: headersOf(dependencies), body: toBody(parameters), signal }
    if (onText && wanted === 'text') {
      const url = urlOf(dependencies, `models/${model}:streamGenerateContent?alt=sse`)
      const streamed = { ...sent, reader: contentReader(), onText }
      return await call.streamText(url, streamed, answer => outcomeOf(answer, wanted, files))
    }
    const url = urlOf(dependencies, `models/${model}:generateContent`)
    return outcomeOf(await call.json<GenerateContentResponse>(url, sent), wanted, files)
  } catch (error) {
    return call.failure(error, failures, [dependencies.key])
  }
}

/** The API separates these from the settings of the generation; the vendor's client has one `config` for all. */
interface Body {
  contents: Content[]
  systemInstruction?: Content
  safetySettings?: SafetySetting[] | undefined
  tools?: ToolListUnion | undefined
  toolConfig?: ToolConfig
  generationConfig: GenerateContentConfig
}

const toBody = ({ contents: prompt, image, messages, config = {}, ...given }: Record<string, unknown>): Body => {
  const { systemInstruction, safetySettings, tools, ...generationConfig } = config as GenerateContentConfig
  const text: Part = { text: prompt as string }
  const said = messages
    ? toConversation(messages as Message[])
    : { instructions: [], contents: [{ role: 'user', parts: image ? [image as Part, text] : [text] }] }
  const instructions = [...(systemInstruction ? [{ text: systemInstruction as string }] : []), ...said.instructions]
  return {
    contents: said.contents,
    // The API refuses an empty instruction.
    ...(instructions.length > 0 && { systemInstruction: { role: 'user', parts: instructions } }),
    safetySettings,
    tools,
    ...toTools(given),
    generationConfig: { ...generationConfig, ...toForm(given['response_format'] as ResponseFormat | undefined) },
  }
}

const outcomeOf = (answer: GenerateContentResponse, wanted: Wanted, files: LargeFiles): Done | Failed => {
  const [candidate] = listOf(answer.candidates) as (Candidate | undefined)[]
  const { searches, ...units } = { ...contentUnitsOf(answer.usageMetadata), searches: searchesOf(candidate) }
  const work = workOf(answer.modelVersion, searches > 0 ? { ...units, webSearchQueries: searches } : units)
  const isForbidden = answer.promptFeedback?.blockReason || FORBIDDEN.test(String(candidate?.finishReason))
  if (isForbidden) return { ...jobFailed('content_rejected'), work }
  const parts = listOf(candidate?.content?.parts).filter(part => part !== null) as Part[]
  const media = wanted === 'media' ? parts.flatMap(part => mediaOf(part, files)) : []
  // Thoughts about a picture are worth reading. Thoughts about an answer are not part of it.
  const text = parts.map(part => (wanted === 'text' && part.thought ? '' : textOf(part))).join('')
  const calls = wanted === 'text' ? completeCalls(parts.flatMap(callOf)) : {}
  const isEmpty = wanted === 'media' ? media.length === 0 : text === '' && !calls.toolCalls
  const isCut = text !== '' && isAtLimit(candidate)
  if (!isEmpty)
    return { kind: 'done', media, ...(text && { text }), ...calls, ...(isCut && { finish: 'length' }), work }
  return { kind: 'failed', code: 'provider_error', message: emptyMessage(wanted, candidate), work }
}

const emptyMessage = (wanted: Wanted, candidate: Candidate | undefined): string => {
  if (wanted === 'media') return 'The provider returned no picture.'
  return isAtLimit(candidate) ? TOO_SHORT : 'The provider returned no text.'
}

const isAtLimit = (candidate: Candidate | undefined): boolean => String(candidate?.finishReason) === 'MAX_TOKENS'

const callOf = ({ functionCall: call }: Part): ToolCall[] =>
  typeof call?.name === 'string' ? [toolCall(call.id, call.name, JSON.stringify(call.args ?? {}))] : []

const textOf = ({ text }: Part) => (typeof text === 'string' ? text : '')

/** Pictures among the thoughts are drafts. */
const mediaOf = ({ inlineData, thought }: Part, files: LargeFiles): Media[] => {
  const { data, mimeType } = inlineData ?? {}
  if (thought || typeof data !== 'string' || data === '') return []
  return [{ mimeType: typeof mimeType === 'string' ? mimeType : 'image/png', ...files.fromBase64(data) }]
}

/** Searches cost extra: https://ai.google.dev/gemini-api/docs/pricing */
const searchesOf = (candidate: Candidate | undefined) => listOf(candidate?.groundingMetadata?.webSearchQueries).length

const together = (outcomes: Done[]): Done => {
  const toolCalls = outcomes.flatMap(outcome => outcome.toolCalls ?? [])
  const text = outcomes.flatMap(outcome => outcome.text ?? []).join('\n\n')
  return {
    kind: 'done',
    media: outcomes.flatMap(({ media }) => media),
    ...(text && { text }),
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(outcomes.some(({ finish }) => finish === 'length') && { finish: 'length' }),
    work: sumOf(outcomes.flatMap(({ work }) => work ?? [])),
  }
}
