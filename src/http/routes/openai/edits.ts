import { hasEnded } from '../../../../projections/runs.ts'
import examples from '../../../../schemas/api/examples.json' with { type: 'json' }
import { EditForm, EditRequest, EditTexts, ImageAnswer } from '../../../../schemas/api/openai/images.ts'
import type { ArrivedFile } from '../../../services/runs/runs.ts'
import { placeFault } from '../../../transports/moment.ts'
import { readerOf } from '../../../transports/validate.ts'
import { receiveEdit } from '../../bodies/edit-form.ts'
import { invalidPart } from '../../bodies/form-parts.ts'
import type { Context } from '../../context.ts'
import type { RouteDependencies } from '../../dependencies.ts'
import { unreadBody } from '../../middleware/arriving-bodies.ts'
import { route } from '../../route.ts'
import { arrivedImage } from './arrived-image.ts'
import { answerHeaders, contract, runErrors } from './contract.ts'
import { editingEndpointOf } from './endpoint.ts'
import { openAiErrors } from './errors.ts'
import { typedTexts } from './form-values.ts'
import { answerImages } from './image-answer.ts'
import { imageNames, imageRun } from './image-request.ts'
import { runToEnd } from './run-to-end.ts'

export const editImages = route({
  ...contract,
  id: 'editImages',
  path: '/v1/images/edits',
  summary: 'Edit an image',
  description: [
    'Runs an image-to-image model for clients of OpenAI’s API, and answers when the run has ended.',
    'A failed run is an error. The file of a form is an upload of the account until the run has ended.',
    'The URLs of the images last as long as those of other runs.',
  ].join(' '),
  json: EditRequest,
  content: { 'multipart/form-data': EditForm },
  examples: { Edit: examples.requests.openAiEdit },
  responses: {
    200: {
      description: 'The images.',
      shape: ImageAnswer,
      examples: { URL: examples.openAiEdit },
      headers: answerHeaders,
    },
  },
  errors: [...runErrors, 'invalid_multipart'],
  before: () => [unreadBody, (ctx, next) => openAiErrors(ctx.is('json') ? jsonNames : formNames)(ctx, next)],
  serve: (ctx, dependencies, { json }) => (json ? editUrl(ctx, dependencies, json) : editFile(ctx, dependencies)),
})

const jsonNames = { ...imageNames, image_url: 'images/0/image_url' }
const formNames = { ...imageNames, image_url: 'image' }

const editUrl = async (ctx: Context, dependencies: RouteDependencies, { images, ...asked }: EditRequest) => {
  const { parametersSchema } = await editingEndpointOf(ctx, dependencies, asked.model)
  const [source] = images as [EditRequest['images'][number]]
  const maxLength = Number(parametersSchema.properties['image_url']?.['maxLength'])
  if (source.image_url.length > maxLength) throw tooLong(maxLength)
  const row = await runToEnd(ctx, dependencies, 'editImages', imageRun(asked, parametersSchema, source, jsonNames))
  return answerImages(ctx, dependencies, row, asked)
}

/** Clients that hold the file send it as a `data:` URL at first. */
const tooLong = (maxLength: number) =>
  placeFault('images/0/image_url', `must have at most ${maxLength} characters; send a form with the file`, 'body')

const editFile = async (ctx: Context, dependencies: RouteDependencies) => {
  const { texts, image, named } = await receiveEdit(ctx, dependencies.uploads)
  const file = arrivedImage(ctx, dependencies, image, named)
  try {
    const address = await file.address()
    // A repeated request is recognised by its body.
    Object.assign(ctx.request, { body: { ...texts, image: address } })
    if (texts['model'] === undefined) throw invalidPart('model', 'is required')
    const { parametersSchema } = await editingEndpointOf(ctx, dependencies, texts['model'])
    const asked = readTexts(typedTexts(texts, parametersSchema))
    const request = imageRun(asked, parametersSchema, { image_url: address }, formNames)
    const row = await runToEnd(ctx, withFile(dependencies, file), 'editImages', request)
    return await answerImages(ctx, dependencies, row, asked)
  } finally {
    await file.end()
  }
}

const readTexts = readerOf(EditTexts, 'form')

/** Every run gets the file. Once it has ended, nobody needs the upload: a repetition brings the file itself. */
const withFile = (dependencies: RouteDependencies, file: ArrivedFile): RouteDependencies => {
  const { runs } = dependencies
  const createRun: typeof runs.createRun = async (caller, request, options) => {
    const created = await runs.createRun(caller, request, { ...options, file })
    if ('value' in created && hasEnded(created.value.row)) await file.drop()
    return created
  }
  return { ...dependencies, runs: { ...runs, createRun } }
}
