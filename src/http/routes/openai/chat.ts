import examples from '../../../../schemas/api/examples.json' with { type: 'json' }
import { ChatCompletion, ChatRequest } from '../../../../schemas/api/openai/chat.ts'
import { RunEvents } from '../../../../schemas/api/run.ts'
import { ApiError } from '../../../transports/api-error.ts'
import type { Context } from '../../context.ts'
import { route } from '../../route.ts'
import { chatCompletion } from './chat-answer.ts'
import { chatRun } from './chat-request.ts'
import { chatFrames } from './chat-stream.ts'
import { answerHeaders, contract, runErrors } from './contract.ts'
import { endpointOf } from './endpoint.ts'
import { openAiErrors, refuseRetries } from './errors.ts'
import { type CompletedRun, runToEnd, streamToEnd } from './run-to-end.ts'

export const chat = route({
  ...contract,
  id: 'createChatCompletion',
  path: '/v1/chat/completions',
  summary: 'Chat with a text model',
  description: [
    'Runs a text model for clients of OpenAI’s API, and answers when the run has ended, or with a stream.',
    'A failed run is an error. A client that leaves a stream cancels the run, unless it sent an `Idempotency-Key`.',
    'A repetition by an official client, whose first request got no answer, returns the run of the first request.',
  ].join(' '),
  json: ChatRequest,
  isLong: true,
  examples: { Chat: examples.requests.chat },
  responses: {
    200: {
      description: 'The answer of the model; with `stream`, its chunks as server-sent events.',
      shape: ChatCompletion,
      content: { 'text/event-stream': RunEvents },
      examples: { Answer: examples.chat },
      headers: answerHeaders,
    },
  },
  errors: runErrors,
  before: () => [openAiErrors({ prompt: 'messages', input: 'messages' })],
  serve: async (ctx, dependencies, { json }) => {
    const { parametersSchema } = await endpointOf(ctx, dependencies, json.model, 'text')
    const request = chatRun(json, parametersSchema)
    if (json.stream) {
      const includesUsage = json.stream_options?.include_usage === true
      return streamToEnd(ctx, dependencies, 'createChatCompletion', request, run => chatFrames(run, includesUsage))
    }
    const row = await runToEnd(ctx, dependencies, 'createChatCompletion', request)
    expectNoFile(ctx, row)
    ctx.body = chatCompletion(row)
  },
})

/** The limits of models keep an answer short enough for a field. */
export const expectNoFile = (ctx: Context, { output, runId }: CompletedRun) => {
  if (output.artifacts.length === 0) return
  refuseRetries(ctx)
  throw new ApiError('internal_error', `The answer has become a file. GET /v1/runs/${runId} shows its URL.`)
}
