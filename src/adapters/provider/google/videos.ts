import type { GenerateVideosOperation, GenerateVideosParameters } from '@google/genai'
import type { Media, ProviderOutcome, Submitted, SubmittedJob, Working } from '../../../ports/provider.ts'
import { LargeFiles } from '../large-files.ts'
import { jobFailed, UpstreamCall } from '../upstream-call.ts'
import type { VendorDependencies } from '../vendor.ts'
import { openClient } from './client.ts'
import { FILE_PLACE, readFile } from './file.ts'
import { failedWith, jobIdIn, POLL_AFTER_MS, polled } from './jobs.ts'
import { listOf } from './usage.ts'

/**
 * Veo: https://ai.google.dev/gemini-api/docs/video. The parameters are `prompt`, `image` and `config`, as in the
 * client. The job's ID is the name of the operation.
 */
export const submitVideo = async (
  dependencies: VendorDependencies,
  model: string,
  { prompt, image, config }: Record<string, unknown>,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<Submitted> => {
  const client = await openClient(dependencies, call)
  const { name } = await client.models.generateVideos({
    model,
    source: { prompt, image },
    config: { ...(config ?? {}), abortSignal: signal },
  } as GenerateVideosParameters)
  return { kind: 'submitted', jobId: jobIdIn(name), pollAfterMs: POLL_AFTER_MS }
}

export const pollVideo = async (
  dependencies: VendorDependencies,
  { jobId, openFile }: SubmittedJob,
  signal: AbortSignal,
): Promise<ProviderOutcome | Working> => {
  const { GenerateVideosOperation } = await import('@google/genai')
  const call = new UpstreamCall(dependencies.request, new LargeFiles(openFile, FILE_PLACE))
  return polled(call, async () => {
    const client = await openClient(dependencies, call)
    const operation = Object.assign(new GenerateVideosOperation(), { name: jobId })
    const answer = await client.operations.getVideosOperation({ operation, config: { abortSignal: signal } })
    return outcomeOf(dependencies, answer, call.files, signal)
  })
}

const outcomeOf = async (
  dependencies: VendorDependencies,
  { done, error, response }: GenerateVideosOperation,
  files: LargeFiles,
  signal: AbortSignal,
): Promise<ProviderOutcome | Working> => {
  if (error) return failedWith([error])
  if (done !== true) return { kind: 'working', pollAfterMs: POLL_AFTER_MS }
  const media: Media[] = []
  for (const item of listOf(response?.generatedVideos)) {
    const {
      videoBytes: data,
      uri,
      mimeType,
    } = ((item as { video?: object } | null)?.video ?? {}) as Record<string, unknown>
    const type = typeof mimeType === 'string' ? mimeType : 'video/mp4'
    const found = await readFile(dependencies, { data, uri, mimeType: type }, files, signal)
    if (found) media.push(found)
  }
  if (media.length > 0) return { kind: 'done', media }
  const isFiltered = Number(response?.raiMediaFilteredCount) > 0 || listOf(response?.raiMediaFilteredReasons).length > 0
  return isFiltered ? jobFailed('content_rejected') : noVideo
}

const noVideo = { kind: 'failed', code: 'provider_error', message: 'The provider returned no video.' } as const
