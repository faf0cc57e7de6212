import examples from '../../../../schemas/api/examples.json' with { type: 'json' }
import { ResponseAnswer, ResponseRequest } from '../../../../schemas/api/openai/responses.ts'
import { RunEvents } from '../../../../schemas/api/run.ts'
import { ApiError } from '../../../transports/api-error.ts'
import { route } from '../../route.ts'
import { expectNoFile } from './chat.ts'
import { chatRun } from './chat-request.ts'
import { answerHeaders, contract, runErrors } from './contract.ts'
import { endpointOf } from './endpoint.ts'
import { openAiErrors } from './errors.ts'
import { endedResponse } from './responses-answer.ts'
import { chatOf, type TranslatedRequest } from './responses-request.ts'
import { responseFrames } from './responses-stream.ts'
import { runToEnd, streamToEnd } from './run-to-end.ts'

export const respond = route({
  ...contract,
  id: 'createResponse',
  path: '/v1/responses',
  summary: 'Get a response of a text model',
  description: [
    'Runs a text model for clients of OpenAI’s API, and answers when the run has ended, or with a stream.',
    'A failed run is an error. A client that leaves a stream cancels the run, unless it sent an `Idempotency-Key`.',
    'The service stores no responses: send the whole conversation.',
  ].join(' '),
  json: ResponseRequest,
  isLong: true,
  examples: { Response: examples.requests.openAiResponse },
  responses: {
    200: {
      description: 'The answer of the model; with `stream`, its events as server-sent events.',
      shape: ResponseAnswer,
      content: { 'text/event-stream': RunEvents },
      examples: { Answer: examples.openAiResponse },
      headers: answerHeaders,
    },
  },
  errors: runErrors,
  before: () => [openAiErrors()],
  serve: async (ctx, dependencies, { json }) => {
    const { parametersSchema } = await endpointOf(ctx, dependencies, json.model, 'text')
    const { chat, placeOf } = chatOf(json, parametersSchema)
    const { toClientsForm = error => error } = ctx.state
    ctx.state.toClientsForm = error => toClientsForm(inClientsPlaces(error, placeOf))
    const request = chatRun(chat, parametersSchema)
    if (json.stream) return streamToEnd(ctx, dependencies, 'createResponse', request, run => responseFrames(run, json))
    const row = await runToEnd(ctx, dependencies, 'createResponse', request)
    expectNoFile(ctx, row)
    ctx.body = endedResponse(row, json)
  },
})

/** A place in the messages of a chat, as errors name it. */
const PLACE_IN_CHAT = /\bmessages(\/\w+)+|(?<=\/)messages\b/g

/** The errors of a chat name its places. */
const inClientsPlaces = (error: ApiError, placeOf: TranslatedRequest['placeOf']): ApiError => {
  const { code, message, details, cause, retryAfterSeconds } = error
  const errors = details.errors?.map(fault => ({
    ...fault,
    path: fault.path.replace(/^\/(input\/)?(.+)/, (_, _input, place: string) => `/${placeOf(place)}`),
  }))
  const shown = { ...details, ...(errors && { errors }) }
  return new ApiError(code, message.replaceAll(PLACE_IN_CHAT, placeOf), shown, { cause, retryAfterSeconds })
}
