import { Readable } from 'node:stream'
import examples from '../../../../schemas/api/examples.json' with { type: 'json' }
import { IdempotencyKey, IdempotentReplayed, TollgateRun } from '../../../../schemas/api/headers.ts'
import { ImageAnswer, ImageRequest } from '../../../../schemas/api/openai/images.ts'
import { route } from '../../route.ts'
import { openAiErrors } from './errors.ts'
import { base64Of, filesDeleted, openFiles } from './files.ts'
import { imageNames, imageRun } from './image-request.ts'
import { runErrors } from './run-errors.ts'
import { costOf, createdOf, endpointOf, runToEnd } from './run-to-end.ts'

export const generateImages = route({
  id: 'generateImages',
  method: 'post',
  path: '/v1/images/generations',
  tag: 'OpenAI',
  summary: 'Generate images from text',
  description: [
    'Runs an image model for clients of OpenAI’s API, and answers when the run has ended. A failed run is an error.',
    'The URLs of the images last as long as those of other runs.',
  ].join(' '),
  auth: 'key or session',
  headers: { 'Idempotency-Key': IdempotencyKey },
  json: ImageRequest,
  examples: { Images: examples.requests.openAiImages },
  responses: {
    200: {
      description: 'The images.',
      shape: ImageAnswer,
      examples: { URLs: examples.openAiImages },
      headers: { 'Tollgate-Run': TollgateRun, 'Idempotent-Replayed': IdempotentReplayed },
    },
  },
  errors: [...runErrors, 'not_found'],
  before: () => [openAiErrors(imageNames)],
  serve: async (ctx, dependencies, { json }) => {
    const { parametersSchema } = await endpointOf(ctx, dependencies, json.model, 'image')
    const row = await runToEnd(ctx, dependencies, 'generateImages', imageRun(json, parametersSchema))
    const facts = { created: createdOf(row), usage: costOf(row) }
    const isImage = row.output.artifacts.map(({ mimeType }) => mimeType.startsWith('image/'))
    if (json.response_format === 'b64_json') {
      const images = await openFiles(
        ctx,
        dependencies,
        row.output.artifacts.filter((_, index) => isImage[index]),
      )
      ctx.type = 'application/json'
      ctx.body = Readable.from(withFiles(facts, images), { objectMode: false })
      return
    }
    if (row.outputDeletedAt !== undefined) throw filesDeleted()
    const urls = dependencies.present.run(row).output?.urls ?? []
    ctx.body = { ...facts, data: urls.flatMap((url, index) => (isImage[index] ? [{ url }] : [])) } satisfies ImageAnswer
  },
})

/** The answer with the files themselves, of which little is in memory at a time. */
async function* withFiles(facts: Omit<ImageAnswer, 'data'>, images: (() => Promise<Readable>)[]) {
  yield `${JSON.stringify(facts).slice(0, -1)},"data":[`
  for (const [index, read] of images.entries()) {
    yield `${index > 0 ? ',' : ''}{"b64_json":"`
    yield* base64Of(await read())
    yield '"}'
  }
  yield ']}'
}
