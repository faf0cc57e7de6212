import type { ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import type { Test } from 'tap'
import { createAnthropicProvider } from '../../../src/adapters/provider/anthropic/provider.ts'
import { createGoogleProvider } from '../../../src/adapters/provider/google/provider.ts'
import { createOpenAiProvider } from '../../../src/adapters/provider/openai/provider.ts'
import type { VendorDependencies } from '../../../src/adapters/provider/vendor.ts'
import type { Provider } from '../../../src/ports/provider.ts'
import { anthropicError, anthropicKey, startAnthropic } from './anthropic.ts'
import { googleError, googleKey, startGoogle } from './google.ts'
import { errorBody, KEY, startOpenAi } from './openai.ts'
import { vendorDependencies } from './vendor-parts.ts'
import { type Handler, reply, type VendorServer } from './vendor-server.ts'

/** Tokens as a vendor counts them. `output` includes thoughts, unless it is Google's. */
export interface Count {
  input: number
  output: number
}

/** An answer of a model, in no vendor's form. */
export interface Script {
  /** The text, as it is cut into pieces. */
  pieces: string[]
  /** Whether the model thinks first, which nobody reads. */
  thinks?: boolean
  isCut?: boolean
  /** The counts in the order in which they are sent; the last ones with or after the end of the text. */
  counts: Count[]
  /** Where the last count stands. */
  place?: 'beside' | 'own'
}

/** A vendor's API for texts. */
export interface Dialect {
  name: string
  operation: string
  model: string
  parameters: Record<string, unknown>
  /** The path of a streaming request, and what its body must hold. */
  streamed: { path: string; body: object }
  start(t: Test, answer: Handler): Promise<{ server: VendorServer; provider: Provider }>
  /** The events of a stream in order. `text` is what each adds, and `end` what it says of the end. */
  events(script: Script): VendorEvent[]
  /** The same answer without a stream. */
  whole(script: Script): object
  /** The body of an error, as a response and as an event. */
  error(status: number): object
}

export interface VendorEvent {
  /** The lines of the event. */
  lines: string[]
  text?: string
  end?: 'whole' | 'last'
}

const event = (data: object | string, facts: Omit<VendorEvent, 'lines'> = {}, name?: string): VendorEvent => ({
  lines: [...(name ? [`event: ${name}`] : []), `data: ${typeof data === 'string' ? data : JSON.stringify(data)}`],
  ...facts,
})

/** The last count stands beside the end or in an event of its own, the others beside the pieces. */
const placed = ({ counts, pieces, place = 'own' }: Script) => {
  const last = counts.at(-1)
  return {
    besidePiece: (at: number) => (at < counts.length - 1 ? counts[at] : undefined),
    /** Counts that have found no piece. */
    besideEnd: place === 'beside' ? last : counts.slice(pieces.length, -1).at(-1),
    own: place === 'own' ? last : undefined,
  }
}

/** https://platform.openai.com/docs/api-reference/chat-streaming */
const openAi: Dialect = {
  name: 'OpenAI',
  operation: 'chat.completions',
  model: 'gpt-x',
  parameters: { prompt: 'Hello?' },
  streamed: { path: '/v1/chat/completions', body: { stream: true, stream_options: { include_usage: true } } },
  start: async (t, answer) => {
    const server = await startOpenAi(t)
    server.answer = (response, request) => answer(request, response)
    return { server, provider: createOpenAiProvider(of(t, server, KEY)) }
  },
  events: script => {
    const { besidePiece, besideEnd, own } = placed(script)
    const chunk = (choices: object[], count: Count | undefined, facts?: Omit<VendorEvent, 'lines'>) => {
      const usage = count ? openAiUsage(count) : null
      return event({ ...openAiFacts, object: 'chat.completion.chunk', choices, usage }, facts)
    }
    const choice = (delta: object, finish_reason: string | null = null) => [
      { index: 0, delta, logprobs: null, finish_reason },
    ]
    return [
      chunk(choice({ role: 'assistant', content: '', refusal: null }), undefined),
      ...(script.thinks ? [chunk(choice({ reasoning_content: 'Hm.' }), undefined)] : []),
      ...script.pieces.map((text, at) => chunk(choice({ content: text }), besidePiece(at), { text })),
      chunk(choice({}, script.isCut ? 'length' : 'stop'), besideEnd, { end: 'whole' }),
      ...(own ? [chunk([], own)] : []),
      event('[DONE]', { end: 'last' }),
    ]
  },
  whole: ({ pieces, isCut, counts }) => ({
    ...{ ...openAiFacts, object: 'chat.completion' },
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, content: pieces.join('') },
        logprobs: null,
        finish_reason: isCut ? 'length' : 'stop',
      },
    ],
    ...(counts.length > 0 && { usage: openAiUsage(counts.at(-1) as Count) }),
  }),
  error: status => ({ error: { ...errorBody('No.', OPENAI_TYPES[status] ?? 'server_error').error, code: null } }),
}

const openAiFacts = { id: 'chatcmpl-1', created: 1741569952, model: 'gpt-x-2026-04-01', service_tier: 'default' }

const openAiUsage = ({ input, output }: Count) => ({
  ...{ prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
})

const OPENAI_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_exceeded',
}

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
const anthropic: Dialect = {
  name: 'Anthropic',
  operation: 'messages',
  model: 'claude-x',
  parameters: { prompt: 'Hello?', max_tokens: 1024 },
  streamed: { path: '/v1/messages', body: { stream: true } },
  start: async (t, answer) => {
    const server = await startAnthropic(t, answer)
    return { server, provider: createAnthropicProvider(of(t, server, anthropicKey)) }
  },
  events: script => {
    const { counts, pieces, thinks, isCut } = script
    const named = (type: string, data: object, facts?: Omit<VendorEvent, 'lines'>) =>
      event({ type, ...data }, facts, type)
    const first = counts[0] && { ...anthropicUsage({ input: counts[0].input, output: 1 }) }
    const block = (index: number, type: string, deltas: VendorEvent[]) => [
      named('content_block_start', { index, content_block: { type, [type]: '' } }),
      ...deltas,
      named('content_block_stop', { index }),
    ]
    const delta = (index: number, type: string, name: string, text: string, facts = {}) =>
      named('content_block_delta', { index, delta: { type, [name]: text } }, facts)
    const index = thinks ? 1 : 0
    // Counts may come several times, and grow: https://platform.claude.com/docs/en/build-with-claude/streaming
    const ends = counts.length === 0 ? [undefined] : counts
    const isSame = (at: number) => counts[at]?.input === counts[at - 1]?.input
    return [
      named('message_start', {
        message: { ...anthropicFacts, content: [], stop_reason: null, ...(first && { usage: first }) },
      }),
      named('ping', {}),
      ...(thinks ? block(0, 'thinking', [delta(0, 'thinking_delta', 'thinking', 'Hm.')]) : []),
      ...block(
        index,
        'text',
        pieces.map(text => delta(index, 'text_delta', 'text', text, { text })),
      ),
      ...ends.map((count, at) =>
        named(
          'message_delta',
          {
            delta: {
              stop_reason: at < ends.length - 1 ? null : isCut ? 'max_tokens' : 'end_turn',
              stop_sequence: null,
            },
            ...(count && { usage: { output_tokens: count.output, input_tokens: isSame(at) ? null : count.input } }),
          },
          at < ends.length - 1 ? {} : { end: 'whole' },
        ),
      ),
      named('message_stop', {}, { end: 'last' }),
    ]
  },
  whole: ({ pieces, isCut, counts }) => ({
    ...anthropicFacts,
    content: [{ type: 'text', text: pieces.join(''), citations: null }],
    stop_reason: isCut ? 'max_tokens' : 'end_turn',
    ...(counts.length > 0 && { usage: anthropicUsage(counts.at(-1) as Count) }),
  }),
  error: status => anthropicError(ANTHROPIC_TYPES[status] ?? 'api_error', 'No.'),
}

const anthropicFacts = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x-20260401' }

const anthropicUsage = ({ input, output }: Count) => ({
  ...{ input_tokens: input, output_tokens: output, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  ...{ server_tool_use: null, service_tier: 'standard' },
})

const ANTHROPIC_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
const google: Dialect = {
  name: 'Google',
  operation: 'generateContent.text',
  model: 'gemini-x',
  parameters: { contents: 'Hello?' },
  streamed: { path: '/v1beta/models/gemini-x:streamGenerateContent?alt=sse', body: { contents: [{ role: 'user' }] } },
  start: async (t, answer) => {
    const server = await startGoogle(t, answer)
    return { server, provider: createGoogleProvider(of(t, server, googleKey)) }
  },
  events: script => {
    const { pieces, thinks, isCut } = script
    const { besidePiece, besideEnd, own } = placed(script)
    const chunk = (parts: object[], count: Count | undefined, reason?: string, facts?: Omit<VendorEvent, 'lines'>) =>
      event(
        {
          candidates: [{ content: { role: 'model', parts }, ...(reason && { finishReason: reason }), index: 0 }],
          ...(count && { usageMetadata: googleUsage(count) }),
          ...googleFacts,
        },
        facts,
      )
    return [
      ...(thinks ? [chunk([{ text: 'Hm.', thought: true }], undefined)] : []),
      ...pieces.map((text, at) => chunk([{ text }], besidePiece(at), undefined, { text })),
      chunk([{ text: '' }], besideEnd, isCut ? 'MAX_TOKENS' : 'STOP', { end: 'whole' }),
      ...(own ? [event({ usageMetadata: googleUsage(own), ...googleFacts })] : []),
    ]
  },
  whole: ({ pieces, isCut, counts }) => ({
    candidates: [
      {
        content: { role: 'model', parts: [{ text: pieces.join('') }] },
        finishReason: isCut ? 'MAX_TOKENS' : 'STOP',
        index: 0,
      },
    ],
    ...(counts.length > 0 && { usageMetadata: googleUsage(counts.at(-1) as Count) }),
    ...googleFacts,
  }),
  error: status => googleError(status, GOOGLE_STATUSES[status] ?? 'INTERNAL', 'No.'),
}

const googleFacts = { modelVersion: 'gemini-x-001', responseId: 'abc' }

/** Google leaves out counts of 0. */
const googleUsage = ({ input, output }: Count) => ({
  promptTokenCount: input,
  ...(output !== 0 && { candidatesTokenCount: output }),
  totalTokenCount: input + output,
})

const GOOGLE_STATUSES: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

const of = (t: Test, { url }: VendorServer, key: string): VendorDependencies => vendorDependencies(t, url, key)

export const dialects: readonly Dialect[] = [openAi, anthropic, google]

/** How the bytes of a stream arrive. */
export interface Form {
  lineEnd?: '\n' | '\r\n' | '\r'
  /** Comments before and between events, as some servers send them to keep a connection open. */
  comments?: boolean
  /** The bytes of each piece; by default, an event is a piece. */
  chunkBytes?: number
}

export const bytesOf = (events: readonly VendorEvent[], { lineEnd = '\n', comments = false }: Form = {}): Buffer => {
  const lines = events.flatMap(({ lines }) => [...(comments ? [': keep-alive', ''] : []), ...lines, ''])
  return Buffer.from(lines.map(line => line + lineEnd).join(''))
}

/** Begins a stream and sends events. Resolves when they have left. */
export const sendEvents = async (response: ServerResponse, events: readonly VendorEvent[], form: Form = {}) => {
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' })
  response.flushHeaders()
  const bytes = bytesOf(events, form)
  const { chunkBytes = bytes.length } = form
  for (let at = 0; at < bytes.length && !response.destroyed; at += chunkBytes) {
    response.write(bytes.subarray(at, at + chunkBytes))
    await turn()
  }
}

/** Answers like the vendor: with a stream if the request asks for one. */
export const answerLike =
  (dialect: Dialect, script: Script, form: Form = {}): Handler =>
  async ({ path, body }, response) => {
    const isStream = path.includes('stream') || JSON.parse(body.toString()).stream === true
    if (!isStream) return reply(response, 200, dialect.whole(script))
    await sendEvents(response, dialect.events(script), form)
    response.end()
  }
