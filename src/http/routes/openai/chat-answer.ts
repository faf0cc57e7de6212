import type { ChatCompletion } from '../../../../schemas/api/openai/chat.ts'
import type { TokenUsage } from '../../../../schemas/catalog.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import { type CompletedRun, costOf, createdOf } from './run-to-end.ts'

/** The answer to a chat. */
export const chatCompletion = (row: CompletedRun): ChatCompletion => ({
  id: row.runId,
  object: 'chat.completion',
  created: createdOf(row),
  model: row.model,
  choices: [
    {
      index: 0,
      message: {
        ...{ role: 'assistant', content: row.output.text ?? null, refusal: null },
        ...(row.output.toolCalls && { tool_calls: row.output.toolCalls }),
      },
      finish_reason: finishReason(row),
      logprobs: null,
    },
  ],
  usage: { ...chatUsage(row.usage), ...costOf(row) },
})

/** OpenAI's clients know no cancelled answers. */
export const finishReason = ({ finishReason, output }: RunRow): 'stop' | 'length' | 'tool_calls' => {
  if (finishReason !== undefined) return 'length'
  return output?.toolCalls ? 'tool_calls' : 'stop'
}

/** Models whose price does not depend on tokens count none. */
export const chatUsage = ({ input, cached_input, output, thinking }: TokenUsage = NO_TOKENS) => ({
  prompt_tokens: input + cached_input,
  completion_tokens: output + thinking,
  total_tokens: input + cached_input + output + thinking,
  prompt_tokens_details: { cached_tokens: cached_input },
  completion_tokens_details: { reasoning_tokens: thinking },
})

const NO_TOKENS: TokenUsage = { input: 0, cached_input: 0, output: 0, thinking: 0 }
