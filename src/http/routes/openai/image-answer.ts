import { Readable } from 'node:stream'
import type { ImageAnswer, ImageRequest } from '../../../../schemas/api/openai/images.ts'
import type { Context } from '../../context.ts'
import type { RouteDependencies } from '../../dependencies.ts'
import { base64Of, filesDeleted, openFiles } from './files.ts'
import { type CompletedRun, costOf, createdOf } from './run-to-end.ts'

/** Answers with the images of a run, as the request has asked for them. */
export const answerImages = async (
  ctx: Context,
  dependencies: Pick<RouteDependencies, 'files' | 'present'>,
  row: CompletedRun,
  { model, response_format: format = usualFormat(model) }: Pick<ImageRequest, 'model' | 'response_format'>,
): Promise<void> => {
  const facts = { created: createdOf(row), usage: costOf(row) }
  const isImage = row.output.artifacts.map(({ mimeType }) => mimeType.startsWith('image/'))
  if (format === 'b64_json') {
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
}

/** OpenAI's API always answers with the files of these models, and programs for them read nothing else. */
const usualFormat = (model: string) => (model.startsWith('gpt-image-') ? 'b64_json' : 'url')

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
