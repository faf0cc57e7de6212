import type OpenAI from 'openai'
import type { Done, Failed } from '../../../ports/provider.ts'
import { failed, objectIn, workOf } from './answer.ts'
import type { Operation } from './client.ts'

/**
 * https://platform.openai.com/docs/api-reference/chat/create, which every compatible server has. `prompt` and
 * `instructions` stand for the messages.
 */
export const answerChat: Operation = async (client, { prompt, instructions, ...parameters }, options) => {
  const messages = [
    ...(instructions ? [{ role: 'system', content: instructions }] : []),
    { role: 'user', content: prompt },
  ]
  const body = { messages, ...parameters } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming
  return outcomeOf(await client.chat.completions.create(body, options))
}

const outcomeOf = (answer: OpenAI.ChatCompletion): Done | Failed => {
  const { choices, model, usage } = objectIn(answer)
  const work = workOf({ model, usage })
  const { message, finish_reason: reason } = choices?.[0] ?? ({} as Partial<OpenAI.ChatCompletion.Choice>)
  if (reason === 'content_filter' || message?.refusal)
    return failed('content_rejected', 'The content policy of the provider forbids this.', work)
  const text: unknown = message?.content
  if (typeof text === 'string' && text !== '') return { kind: 'done', media: [], text, ...work }
  return failed('provider_error', reason === 'length' ? TOO_SHORT : 'The provider returned no text.', work)
}

const TOO_SHORT = 'The model used the whole length of the answer for thinking. Allow a longer answer.'
