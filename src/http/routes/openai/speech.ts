import type { Artifact } from '../../../../schemas/account-events.ts'
import examples from '../../../../schemas/api/examples.json' with { type: 'json' }
import { FileBytes } from '../../../../schemas/api/file.ts'
import { SpeechRequest } from '../../../../schemas/api/openai/speech.ts'
import { route } from '../../route.ts'
import { answerHeaders, contract, runErrors } from './contract.ts'
import { endpointOf } from './endpoint.ts'
import { openAiErrors } from './errors.ts'
import { openFiles } from './files.ts'
import { runToEnd } from './run-to-end.ts'
import { speechNames, speechRun } from './speech-request.ts'

export const speak = route({
  ...contract,
  id: 'createSpeech',
  path: '/v1/audio/speech',
  summary: 'Speak a text',
  description: [
    'Runs a speech model for clients of OpenAI’s API, and answers with the file when the run has ended.',
    'A failed run is an error.',
  ].join(' '),
  json: SpeechRequest,
  examples: { Speech: examples.requests.openAiSpeech },
  responses: {
    200: {
      description: 'The sound.',
      shape: FileBytes,
      type: 'audio/*',
      headers: answerHeaders,
    },
  },
  errors: runErrors,
  before: () => [openAiErrors(speechNames)],
  serve: async (ctx, dependencies, { json }) => {
    const { parametersSchema } = await endpointOf(ctx, dependencies, json.model, 'audio')
    const row = await runToEnd(ctx, dependencies, 'createSpeech', speechRun(json, parametersSchema))
    const [sound] = row.output.artifacts as [Artifact]
    const [read] = await openFiles(ctx, dependencies, [sound])
    ctx.body = await read?.()
    ctx.type = sound.mimeType
    ctx.length = sound.sizeBytes
  },
})
