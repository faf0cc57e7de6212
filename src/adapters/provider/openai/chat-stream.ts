import type OpenAI from 'openai'
import { DONE } from '../event-stream.ts'
import { callBytes, textBytes } from '../tool-calls.ts'
import { type AnswerReader, type Arrival, EventError } from '../upstream-call.ts'

/** The parts of chunks that are read. Compatible servers leave some out. */
interface Chunk {
  choices?: unknown
  model?: unknown
  usage?: unknown
  error?: unknown
  object?: unknown
}

interface Choice {
  index?: unknown
  delta?: { content?: unknown; refusal?: unknown; tool_calls?: unknown } | null
  finish_reason?: unknown
}

/**
 * https://platform.openai.com/docs/api-reference/chat-streaming. The last usage counts: most servers send it in a chunk
 * of its own, and some beside each piece, where it grows.
 */
export const chatReader = (): AnswerReader<OpenAI.ChatCompletion> => {
  const message = { content: '', refusal: '', tool_calls: [] as Call[] }
  const choice: { message: typeof message; finish_reason?: unknown } = { message }
  const answer: Record<string, unknown> = { choices: [choice] }
  const take = (event: unknown): Arrival => {
    if (event === DONE) return { end: 'last' }
    const chunk = objectOr(event)
    const { choices, model, usage }: Chunk = chunk
    if (isError(chunk)) throw new EventError(statusOf(chunk), chunk)
    if (typeof model === 'string' && model !== '') answer['model'] = model
    if (Object.keys(objectOr(usage)).length > 0) answer['usage'] = usage
    const { delta, finish_reason: reason } = firstOf(choices)
    const { content, refusal, tool_calls: calls } = objectOr(delta) as NonNullable<Choice['delta']>
    let keptBytes = textBytes(refusal)
    for (const call of Array.isArray(calls) ? calls : []) keptBytes += addTo(message.tool_calls, objectOr(call))
    const text = typeof content === 'string' ? content : ''
    message.content += text
    if (typeof refusal === 'string') message.refusal += refusal
    if (typeof reason !== 'string') return { text, keptBytes }
    choice.finish_reason = reason
    return { text, keptBytes, end: 'whole' }
  }
  return { answer: answer as unknown as OpenAI.ChatCompletion, take }
}

/** A message of a conversation holds no more. */
const MAX_CALLS = 200

interface Call {
  index?: unknown
  id?: unknown
  function: { name: string; arguments: string }
}

/**
 * The first piece of a call has its ID and name, and each piece a part of its arguments. Returns the memory that the
 * piece takes.
 */
const addTo = (calls: Call[], { index, id, function: piece }: Partial<Call>): number => {
  const { name, arguments: given } = objectOr(piece) as Partial<Call['function']>
  let call = calls.findLast(each => (index === undefined ? !id || each.id === id : each.index === index))
  const isNew = !call
  if (!call) {
    if (calls.length === MAX_CALLS) throw new Error(`the answer has more than ${MAX_CALLS} tool calls`)
    call = { index: scalar(index), id: scalar(id), function: { name: '', arguments: '' } }
    calls.push(call)
  }
  if (typeof name === 'string') call.function.name ||= name
  if (typeof given === 'string') call.function.arguments += given
  return isNew ? callBytes(id, name, given) : textBytes(name) + textBytes(given)
}

const scalar = (value: unknown): unknown => (typeof value === 'object' ? null : value)

const objectOr = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {})

const firstOf = (choices: unknown): Choice =>
  (Array.isArray(choices) ? choices : []).map(objectOr).find(({ index = 0 }: Choice) => index === 0) ?? {}

/** Older vLLM has no envelope. */
const isError = ({ error, object }: Chunk): boolean => Boolean(error) || object === 'error'

/** Some servers state the status. OpenAI states the type: https://developers.openai.com/api/docs/guides/error-codes */
const statusOf = ({ error, ...chunk }: Chunk): number => {
  const { code, type } = objectOr(error ?? chunk) as { code?: unknown; type?: unknown }
  const status = Number(code)
  if (Number.isInteger(status) && status >= 400 && status < 600) return status
  const name = `${code} ${type}`
  return STATUSES.find(([pattern]) => pattern.test(name))?.[1] ?? 500
}

const STATUSES: readonly [RegExp, number][] = [
  [/rate_limit|quota|billing/i, 429],
  [/authentication|invalid_api_key/i, 401],
  [/permission/i, 403],
  [/not_?found/i, 404],
  [/invalid|bad_?request|context_length/i, 400],
]
