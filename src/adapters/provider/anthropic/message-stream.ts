import type { Anthropic } from '@anthropic-ai/sdk'
import { callBytes, textBytes } from '../tool-calls.ts'
import { type AnswerReader, type Arrival, EventError } from '../upstream-call.ts'

type Values = Record<string, unknown>

/**
 * https://platform.claude.com/docs/en/build-with-claude/streaming. Counts grow: those at the start are of the input
 * and of a first token, those at the end are of the whole message. So without the latter, there is no usage.
 */
export const messageReader = (): AnswerReader<Anthropic.Message> => {
  const block = { type: 'text', text: '' }
  const content: Values[] = [block]
  const answer: Values = { content }
  const calls = new Map<unknown, Values>()
  let started: Values = {}
  const add = (text: unknown): Arrival => {
    if (typeof text !== 'string') return {}
    block.text += text
    return { text }
  }
  const take = (event: unknown): Arrival => {
    const { type, index, message, content_block: begun, delta, usage, error } = valuesOf(event)
    switch (type) {
      case 'message_start': {
        const { model, usage: first } = valuesOf(message)
        answer['model'] = model
        started = known(first)
        return {}
      }
      case 'content_block_start': {
        const { type: kind, text, id, name } = valuesOf(begun)
        if (kind !== 'tool_use') return kind === 'text' ? add(text) : {}
        const call = { type: kind, id, name, input: '' }
        calls.set(index, call)
        content.push(call)
        return { keptBytes: callBytes(id, name) }
      }
      case 'content_block_delta': {
        const { type: kind, text, partial_json: json } = valuesOf(delta)
        const call = calls.get(index)
        if (kind === 'text_delta') return add(text)
        if (kind !== 'input_json_delta' || !call || typeof json !== 'string') return {}
        call['input'] += json
        return { keptBytes: textBytes(json) }
      }
      case 'message_delta': {
        const counts = known(usage)
        if ('output_tokens' in counts) answer['usage'] = { ...started, ...valuesOf(answer['usage']), ...counts }
        const { stop_reason: reason } = valuesOf(delta)
        if (typeof reason !== 'string') return {}
        answer['stop_reason'] = reason
        return { end: 'whole' }
      }
      case 'message_stop':
        return { end: 'last' }
      case 'error':
        throw new EventError(STATUSES[String(valuesOf(error)['type'])] ?? 500, event)
      default:
        // Such as `ping`, and what is new: https://platform.claude.com/docs/en/api/versioning
        return {}
    }
  }
  return { answer: answer as unknown as Anthropic.Message, take }
}

const valuesOf = (value: unknown): Values => (typeof value === 'object' && value !== null ? (value as Values) : {})

/** At the end, counts that have not changed may be null. */
const known = (usage: unknown): Values =>
  Object.fromEntries(Object.entries(valuesOf(usage)).filter(([, count]) => count !== null))

/** https://platform.claude.com/docs/en/api/errors#http-errors */
const STATUSES: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}
