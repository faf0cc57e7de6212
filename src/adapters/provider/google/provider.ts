import type { ListModelsResponse } from '@google/genai'
import type { InputMedia } from '../../../ports/input-media.ts'
import type { Job, Provider, ProviderOutcome, Submitted, SubmittedJob } from '../../../ports/provider.ts'
import { checkFailure } from '../check-failure.ts'
import { LargeFiles } from '../large-files.ts'
import { UpstreamCall } from '../upstream-call.ts'
import { assertKey, unusableFile, type VendorDependencies, withFile } from '../vendor.ts'
import { headersOf, urlOf } from './api.ts'
import { failures } from './failures.ts'
import { FILE_PLACE } from './file.ts'
import { generateContent } from './generate-content.ts'
import { cancelInteraction, createInteraction, pollInteraction } from './interactions.ts'
import { pollVideo, submitVideo } from './videos.ts'

/** The form in which each operation takes a file. */
const fileForms: Record<string, (mimeType: string, base64: string) => unknown> = {
  'generateContent.text': inlineData,
  'generateContent.image': inlineData,
  generateVideos: (mimeType, imageBytes) => ({ mimeType, imageBytes }),
  interactions: (mimeType, data) => ({ type: 'image', mime_type: mimeType, data }),
}

/** Google's Gemini API: text and pictures in one request, films and music also as jobs. */
export const createGoogleProvider = (dependencies: VendorDependencies): Provider => {
  assertKey(dependencies.key, 'GOOGLE_API_KEY')
  const submit = async (job: Job, signal: AbortSignal): Promise<ProviderOutcome | Submitted> => {
    const { model, operation } = job.upstream
    const toFile = fileForms[operation]
    if (!toFile) throw new Error(`Google has no operation ${operation}`)
    const files = new LargeFiles(job.openFile, FILE_PLACE)
    const call = new UpstreamCall(dependencies.request, files)
    const toVendor = ({ mimeType, bytes }: InputMedia) => toFile(mimeType, files.toBase64(bytes))
    try {
      return await withFile(job, dependencies.useInputMedia, signal, toVendor, async parameters => {
        if (operation === 'interactions') return createInteraction(dependencies, model, parameters, call, signal)
        if (operation === 'generateVideos') return submitVideo(dependencies, model, parameters, call, signal)
        const wanted = operation === 'generateContent.text' ? 'text' : 'media'
        const { onText } = job
        return generateContent(dependencies, wanted, { model, parameters, files, signal, ...(onText && { onText }) })
      })
    } catch (error) {
      return unusableFile(error) ?? call.failure(error, failures, [dependencies.key])
    }
  }

  const poll = async (job: SubmittedJob, signal: AbortSignal) =>
    job.upstream.operation === 'interactions'
      ? pollInteraction(dependencies, job, signal)
      : pollVideo(dependencies, job, signal)

  /** A film cannot be cancelled. */
  const cancel = async (job: SubmittedJob, signal: AbortSignal): Promise<void> => {
    if (job.upstream.operation === 'interactions') await cancelInteraction(dependencies, job, signal)
  }

  const check = async (signal: AbortSignal): Promise<void> => {
    const call = new UpstreamCall(dependencies.request)
    try {
      const sent = { headers: headersOf(dependencies), signal }
      const { models } = await call.json<ListModelsResponse>(urlOf(dependencies, 'models?pageSize=1'), sent)
      if (!models?.length) throw new Error('there are no models')
    } catch (error) {
      throw checkFailure(call, error, failures, { ...dependencies, variable: 'GOOGLE' })
    }
  }

  return { submit, poll, cancel, check }
}

function inlineData(mimeType: string, data: string) {
  return { inlineData: { mimeType, data } }
}
