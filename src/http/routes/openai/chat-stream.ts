import type { RunRow } from '../../../../schemas/views.ts'
import type { StreamedRun } from '../../../services/runs/runs.ts'
import { frame, type TextFrames } from '../../answers/text-stream.ts'
import { chatUsage, finishReason } from './chat-answer.ts'
import { errorOf } from './errors.ts'
import { costOf, createdOf } from './run-to-end.ts'

/** The end of a stream: https://platform.openai.com/docs/api-reference/chat-streaming */
const DONE = 'data: [DONE]\n\n'

/** A text that no id or name of a model contains. */
const PLACE = '\0'

/** The chunks of a streamed chat. With `includesUsage`, the last chunk holds the usage, and all others a null. */
export const chatFrames = ({ row }: StreamedRun, includesUsage: boolean): TextFrames => {
  const { runId: id, model } = row
  const chunk = (choices: object[], usage: object | null = null) =>
    frame({
      ...{ id, object: 'chat.completion.chunk', created: createdOf(row), model, choices },
      ...(includesUsage && { usage }),
    })
  const choice = (delta: object, finish_reason: string | null = null) => [
    { index: 0, delta, finish_reason, logprobs: null },
  ]
  const end = (ended: RunRow): string => {
    if (ended.status !== 'completed') return frame({ error: errorOf(ended) })
    const calls = ended.output?.toolCalls?.map((call, index) => ({ index, ...call }))
    const called = calls ? chunk(choice(begun({ tool_calls: calls }))) : ''
    return (
      called +
      chunk(choice({}, finishReason(ended))) +
      (includesUsage ? chunk([], { ...chatUsage(ended.usage), ...costOf(ended) }) : '') +
      DONE
    )
  }
  // All but the content is the same in each chunk, and writing it takes longer than the rest of a piece.
  const [before = '', after = ''] = chunk(choice({ content: PLACE })).split(JSON.stringify(PLACE))
  let isFirst = true
  const begun = (delta: object): object => {
    const first = isFirst ? { role: 'assistant', content: null, refusal: null } : {}
    isFirst = false
    return { ...first, ...delta }
  }
  const piece = (content: string): string =>
    isFirst ? chunk(choice(begun({ content }))) : before + JSON.stringify(content) + after
  return { piece, end }
}
