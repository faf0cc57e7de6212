import type OpenAI from 'openai'
import type { ToolCall } from '../../../../schemas/conversation.ts'
import type { Done, Failed, Work } from '../../../ports/provider.ts'
import { isFile } from '../large-files.ts'
import { completeCalls, toolCall } from '../tool-calls.ts'
import { TOO_SHORT } from '../upstream-call.ts'
import { headersOf, type Operation, requestJson, urlOf } from './api.ts'
import { chatReader } from './chat-stream.ts'

/** The parsed answer. It may be text or null if a proxy answers instead of the API. */
export const objectIn = <Shape extends object>(answer: Shape): Partial<Shape> => {
  if (typeof answer !== 'object' || answer === null) throw new Error('the answer of OpenAI is not a JSON object')
  return answer
}

/** The model's version and the used quantities, such as `input_tokens_details.image_tokens`. */
export const workOf = ({ model, usage }: { model?: unknown; usage?: unknown }): { work?: Work } => {
  const units = quantitiesIn(usage)
  const work: Work = {
    ...(typeof model === 'string' && model !== '' && { version: model }),
    ...(Object.keys(units).length > 0 && { units }),
  }
  return Object.keys(work).length > 0 ? { work } : {}
}

const quantitiesIn = (usage: unknown, prefix = ''): Record<string, number> => {
  if (typeof usage !== 'object' || usage === null) return {}
  const found: Record<string, number> = {}
  for (const [name, value] of Object.entries(usage)) {
    if (Number.isFinite(value) && value >= 0) found[prefix + name] = value
    else if (prefix === '') Object.assign(found, quantitiesIn(value, `${name}.`))
  }
  return found
}

export const failed = (code: Failed['code'], message: string, work: { work?: Work } = {}): Failed => ({
  kind: 'failed',
  code,
  message,
  ...work,
})

/** https://platform.openai.com/docs/api-reference/audio/createSpeech */
export const speak: Operation = async (api, parameters) => {
  const body = parameters as unknown as OpenAI.Audio.SpeechCreateParams
  const answer = await api.call.sendJson(urlOf(api, '/audio/speech'), {
    headers: headersOf(api),
    body,
    signal: api.signal,
  })
  if (!isFile(answer)) return failed('provider_error', 'The provider returned no sound.')
  const mimeType = mimeTypes[body.response_format ?? 'mp3']
  return { kind: 'done', media: [{ mimeType, ...api.call.files.fromBody(answer.body) }] }
}

const mimeTypes: Record<NonNullable<OpenAI.Audio.SpeechCreateParams['response_format']>, string> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

/**
 * https://platform.openai.com/docs/api-reference/chat/create, which every compatible server has. A `prompt` replaces
 * the messages, and `instructions` come before them.
 */
export const answerChat: Operation = async (api, { prompt, messages: said, instructions, ...parameters }) => {
  const messages = [
    ...(instructions ? [{ role: 'system', content: instructions }] : []),
    ...((said as object[] | undefined) ?? [{ role: 'user', content: prompt }]),
  ] as OpenAI.ChatCompletionMessageParam[]
  const body: OpenAI.ChatCompletionCreateParamsNonStreaming = { messages, ...(parameters as { model: string }) }
  const path = '/chat/completions'
  const { call, signal, onText } = api
  if (!onText) return outcomeOf(await requestJson<OpenAI.ChatCompletion>(api, path, body))
  const streamed = { ...body, stream: true, stream_options: { include_usage: true } }
  const request = { headers: headersOf(api), body: streamed, signal, reader: chatReader(), onText }
  return call.streamText(urlOf(api, path), request, outcomeOf)
}

const outcomeOf = (answer: OpenAI.ChatCompletion): Done | Failed => {
  const { choices, model, usage } = objectIn(answer)
  const work = workOf({ model, usage })
  const { message, finish_reason: reason } = choices?.[0] ?? ({} as Partial<OpenAI.ChatCompletion.Choice>)
  if (reason === 'content_filter' || message?.refusal)
    return failed('content_rejected', 'The content policy of the provider forbids this.', work)
  const text = typeof message?.content === 'string' ? message.content : ''
  const calls = completeCalls(callsIn(message?.tool_calls))
  if (text !== '' || calls.toolCalls)
    return {
      ...{ kind: 'done', media: [], ...(text !== '' && { text }), ...calls },
      ...(reason === 'length' && { finish: reason }),
      ...work,
    }
  return failed('provider_error', reason === 'length' ? TOO_SHORT : 'The provider returned no text.', work)
}

const callsIn = (calls: unknown): ToolCall[] =>
  (Array.isArray(calls) ? calls : []).flatMap((call: Partial<OpenAI.ChatCompletionMessageFunctionToolCall> | null) => {
    const { name, arguments: given } = call?.function ?? {}
    if (typeof name !== 'string') return []
    return toolCall(call?.id, name, typeof given === 'string' && given ? given : '{}')
  })
