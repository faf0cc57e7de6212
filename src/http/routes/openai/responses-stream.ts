import type { Item, ResponseRequest } from '../../../../schemas/api/openai/responses.ts'
import type { StreamedRun } from '../../../services/runs/runs.ts'
import { frame, type TextFrames } from '../../answers/text-stream.ts'
import { errorOf } from './errors.ts'
import { begunResponse, endedResponse, failedResponse, messageItem, textPart } from './responses-answer.ts'

/** The events of a streamed response: https://platform.openai.com/docs/api-reference/responses-streaming */
export const responseFrames = ({ row }: StreamedRun, request: ResponseRequest): TextFrames => {
  let next = 0
  const event = (type: string, data: object) => frame({ type, sequence_number: next++, ...data }, { event: type })
  const begin = (): string => {
    if (next > 0) return ''
    const response = begunResponse(row, request)
    return event('response.created', { response }) + event('response.in_progress', { response })
  }
  const added = (item: Item, output_index: number) => event('response.output_item.added', { output_index, item })
  const done = (item: Item, output_index: number) => event('response.output_item.done', { output_index, item })

  const message = messageItem(row.runId, '', 'in_progress')
  const text = { item_id: message.id, output_index: 0, content_index: 0 }
  const beginText = () => added(message, 0) + event('response.content_part.added', { ...text, part: textPart('') })
  const endText = (item: Item & { type: 'message' }) => {
    const [part = textPart('')] = item.content
    return [
      event('response.output_text.done', { ...text, text: part.text, logprobs: [] }),
      event('response.content_part.done', { ...text, part }),
      done(item, 0),
    ].join('')
  }

  const call = (item: Item & { type: 'function_call' }, output_index: number) => {
    const { name, arguments: given } = item
    const place = { item_id: item.id, output_index }
    return [
      added({ ...item, status: 'in_progress', arguments: '' }, output_index),
      event('response.function_call_arguments.delta', { ...place, delta: given }),
      event('response.function_call_arguments.done', { ...place, name, arguments: given }),
      done(item, output_index),
    ].join('')
  }

  return {
    piece: delta =>
      (next === 0 ? begin() + beginText() : '') + event('response.output_text.delta', { ...text, delta, logprobs: [] }),
    end: ended => {
      const begun = begin()
      if (ended.status !== 'completed') {
        const error = errorOf(ended)
        const { type: _, ...shown } = error
        // OpenAI's reference has the members in the event itself, and the official clients throw for those in `error`.
        const failed = event('error', { ...shown, error })
        return begun + failed + event('response.failed', { response: failedResponse(ended, request) })
      }
      const response = endedResponse(ended, request)
      const items = response.output.map((item, at) => (item.type === 'message' ? endText(item) : call(item, at)))
      return begun + items.join('') + event(`response.${response.status}`, { response })
    },
  }
}
