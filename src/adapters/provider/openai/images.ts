import type OpenAI from 'openai'
import type { Done, Failed, Media } from '../../../ports/provider.ts'
import type { LargeFiles } from '../large-files.ts'
import { outputFile } from '../output-file.ts'
import { failed, objectIn, workOf } from './answer.ts'
import { type Operation, requestJson } from './api.ts'
import { openClient } from './client.ts'

/** The fields of images in an answer. */
export const IMAGE_PLACE = /"(b64_json|url)"\s*:\s*"$/

/** https://platform.openai.com/docs/api-reference/images/create */
export const generateImages: Operation = async (api, parameters) => {
  const body: OpenAI.ImageGenerateParamsNonStreaming = parameters as { prompt: string }
  const answer = await requestJson<OpenAI.ImagesResponse>(api, '/images/generations', body)
  return outcomeOf(parameters, answer, api.call.files)
}

/** https://platform.openai.com/docs/api-reference/images/createEdit */
export const editImages: Operation = async (api, parameters) => {
  const client = await openClient(api)
  const body = parameters as unknown as OpenAI.ImageEditParamsNonStreaming
  return outcomeOf(parameters, await client.images.edit(body, { signal: api.signal }), api.call.files)
}

const outcomeOf = (
  { output_format: asked }: Record<string, unknown>,
  answer: OpenAI.ImagesResponse,
  files: LargeFiles,
): Done | Failed => {
  const { data, output_format: format, ...facts } = objectIn(answer)
  const images: unknown[] = Array.isArray(data) ? data : []
  // Compatible servers state no format, and make PNG files.
  const mimeType = `image/${format ?? asked ?? 'png'}`
  const media = images.map(image => toMedia(image, mimeType, files)).filter(one => one !== undefined)
  const work = workOf(facts)
  if (media.length === 0) return failed('provider_error', 'The provider returned no image.', work)
  return { kind: 'done', media, ...work }
}

/** OpenAI's models return Base64, and some servers an address. */
const toMedia = (image: unknown, mimeType: string, files: LargeFiles): Media | undefined => {
  const { b64_json: base64, url } = (image ?? {}) as { b64_json?: unknown; url?: unknown }
  if (typeof base64 === 'string' && base64 !== '') return { mimeType, ...files.fromBase64(base64) }
  return outputFile(url, files, mimeType)
}
