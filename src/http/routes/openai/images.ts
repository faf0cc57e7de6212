import examples from '../../../../schemas/api/examples.json' with { type: 'json' }
import { ImageAnswer, ImageRequest } from '../../../../schemas/api/openai/images.ts'
import { route } from '../../route.ts'
import { answerHeaders, contract, runErrors } from './contract.ts'
import { endpointOf } from './endpoint.ts'
import { openAiErrors } from './errors.ts'
import { answerImages } from './image-answer.ts'
import { imageNames, imageRun } from './image-request.ts'
import { runToEnd } from './run-to-end.ts'

export const generateImages = route({
  ...contract,
  id: 'generateImages',
  path: '/v1/images/generations',
  summary: 'Generate images from text',
  description: [
    'Runs an image model for clients of OpenAI’s API, and answers when the run has ended. A failed run is an error.',
    'The URLs of the images last as long as those of other runs.',
  ].join(' '),
  json: ImageRequest,
  examples: { Images: examples.requests.openAiImages },
  responses: {
    200: {
      description: 'The images.',
      shape: ImageAnswer,
      examples: { URLs: examples.openAiImages },
      headers: answerHeaders,
    },
  },
  errors: runErrors,
  before: () => [openAiErrors(imageNames)],
  serve: async (ctx, dependencies, { json }) => {
    const { parametersSchema } = await endpointOf(ctx, dependencies, json.model, 'image')
    const row = await runToEnd(ctx, dependencies, 'generateImages', imageRun(json, parametersSchema))
    return answerImages(ctx, dependencies, row, json)
  },
})
