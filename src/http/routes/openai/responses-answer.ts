import type { Item, ResponseAnswer, ResponseRequest } from '../../../../schemas/api/openai/responses.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import { chatUsage } from './chat-answer.ts'
import { errorOf } from './errors.ts'
import { costOf, createdOf } from './run-to-end.ts'

/** The response of a completed run. An answer that was cancelled is cut off, too. */
export const endedResponse = (row: RunRow, request: ResponseRequest): ResponseAnswer => {
  const isCut = row.finishReason !== undefined
  const { prompt_tokens, prompt_tokens_details, ...used } = chatUsage(row.usage)
  const { completion_tokens, completion_tokens_details, total_tokens } = used
  return {
    ...begunResponse(row, request),
    status: isCut ? 'incomplete' : 'completed',
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: itemsOf(row),
    usage: {
      ...{ input_tokens: prompt_tokens, input_tokens_details: prompt_tokens_details },
      ...{ output_tokens: completion_tokens, output_tokens_details: completion_tokens_details, total_tokens },
      ...costOf(row),
    },
  }
}

/** The response of a run that has failed after it began to answer. */
export const failedResponse = (row: RunRow, request: ResponseRequest): ResponseAnswer => {
  const { code, message } = errorOf(row)
  return { ...begunResponse(row, request), status: 'failed', error: { code, message } }
}

/** The response of a run that begins to answer, with the parameters of the request. */
export const begunResponse = (row: RunRow, request: ResponseRequest): ResponseAnswer => ({
  ...{ id: row.runId, object: 'response', created_at: createdOf(row), status: 'in_progress' },
  ...{ error: null, incomplete_details: null },
  instructions: request.instructions ?? null,
  max_output_tokens: request.max_output_tokens ?? null,
  metadata: request.metadata ?? {},
  model: row.model,
  output: [],
  parallel_tool_calls: request.parallel_tool_calls ?? true,
  temperature: request.temperature ?? null,
  tool_choice: request.tool_choice ?? 'auto',
  tools: request.tools ?? [],
  top_p: request.top_p ?? null,
  usage: null,
})

const itemsOf = ({ runId, output, finishReason }: RunRow): Item[] => [
  ...(output?.text ? [messageItem(runId, output.text, finishReason ? 'incomplete' : 'completed')] : []),
  ...(output?.toolCalls ?? []).map(
    ({ id, function: called }, index): Item => ({
      ...{ id: itemId('fc', `${runId}_${index}`), type: 'function_call', status: 'completed' },
      ...{ call_id: id, ...called },
    }),
  ),
]

/** The text of an answer, which always comes first. */
export const messageItem = (runId: string, text: string, status: Item['status']): Item & { type: 'message' } => ({
  ...{ id: itemId('msg', runId), type: 'message', status, role: 'assistant' },
  content: status === 'in_progress' ? [] : [textPart(text)],
})

export const textPart = (text: string) => ({ type: 'output_text' as const, text, annotations: [], logprobs: [] })

const itemId = (prefix: string, id: string) => id.replace(/^run/, prefix)
