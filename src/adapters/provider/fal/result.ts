import type { Media, ProviderOutcome, Work } from '../../../ports/provider.ts'
import type { VendorAnswer } from '../../../ports/vendor-request.ts'
import { headerOf } from '../callback.ts'
import type { LargeFiles } from '../large-files.ts'
import { outputFile } from '../output-file.ts'
import { valuesAt } from '../output-path.ts'
import { jobFailed } from '../upstream-call.ts'

/** The places of files in the results of most models. */
const USUAL_PATHS = ['images.*.url', 'image.url', 'video.url', 'audio.url']

/** The outcome of a finished job. `path` leads to the addresses in its result. */
export const outcomeOf = (
  result: unknown,
  path: string | undefined,
  work: Work,
  files: LargeFiles,
): ProviderOutcome => {
  const media = (path === undefined ? USUAL_PATHS : [path]).flatMap(each => filesAt(result, each, files))
  if (isCensored(result)) return { ...jobFailed('content_rejected'), work }
  if (media.length === 0) return { ...jobFailed('provider_error'), work }
  return { kind: 'done', media, work }
}

/** The billed units of the model: https://fal.ai/docs/documentation/model-apis/pricing */
export const workOf = (headers: VendorAnswer['headers'] = {}): Work => {
  const stated = headerOf(headers, 'x-fal-billable-units') ?? ''
  return /^\d+(\.\d+)?$/.test(stated) ? { units: { billable_units: Number(stated) } } : {}
}

const filesAt = (result: unknown, path: string, files: LargeFiles): Media[] =>
  valuesAt(result, path).flatMap(({ value, parent }) => {
    const isBeside = path.endsWith('url')
    const file = outputFile(value, files, isBeside ? parent?.['content_type'] : undefined, usualType(path))
    return file ? [file] : []
  })

const usualType = (path: string): string => {
  if (/video/.test(path)) return 'video/mp4'
  return /audio|music|speech/.test(path) ? 'audio/mpeg' : 'image/png'
}

/** Whether the safety checker has blackened every picture: https://fal.ai/models/fal-ai/flux/dev/api */
const isCensored = (result: unknown): boolean => {
  const flags = valuesAt(result, 'has_nsfw_concepts.*')
  return flags.length > 0 && flags.every(({ value }) => value === true)
}
