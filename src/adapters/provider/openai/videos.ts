import type OpenAI from 'openai'
import { essenceOf } from '../../../domain/media-types.ts'
import type { ProviderOutcome, SubmittedJob, Working } from '../../../ports/provider.ts'
import { isFile, LargeFiles } from '../large-files.ts'
import { jobFailed } from '../upstream-call.ts'
import type { VendorDependencies } from '../vendor.ts'
import { failed, objectIn, workOf } from './answer.ts'
import { type ApiCall, headersOf, type Operation, openCall, urlOf } from './api.ts'
import { openClient } from './client.ts'
import { failures, isContentCode } from './failures.ts'

/** A video takes minutes. */
const POLL_AFTER_MS = 5_000

/** The longest recorded job ID. */
const MAX_JOB_ID_LENGTH = 255

/** https://platform.openai.com/docs/api-reference/videos. OpenAI has turned it off, but other servers have it. */
export const createVideo: Operation = async (api, parameters) => {
  const client = await openClient(api)
  const body = parameters as unknown as OpenAI.VideoCreateParams
  const answer = await client.videos.create(body, { signal: api.signal })
  const { id } = objectIn(answer)
  if (typeof id !== 'string' || id === '' || id.length > MAX_JOB_ID_LENGTH || !id.isWellFormed())
    throw new Error('the answer of OpenAI has no video ID')
  return { kind: 'submitted', jobId: id, pollAfterMs: POLL_AFTER_MS }
}

/** Rejects if the video may still be available at the next poll. */
export const pollVideo = async (
  dependencies: VendorDependencies,
  { jobId, openFile }: SubmittedJob,
  signal: AbortSignal,
): Promise<ProviderOutcome | Working> => {
  const api = openCall(dependencies, signal)
  let video: Video
  try {
    const client = await openClient(api)
    video = objectIn(await client.videos.retrieve(jobId, { signal }))
  } catch (error) {
    return goneOrThrow(api, error)
  }
  const status: string = video.status ?? ''
  if (status === 'completed') return download(openCall(dependencies, signal, new LargeFiles(openFile)), jobId, video)
  return endings[status]?.(video) ?? { kind: 'working', pollAfterMs: POLL_AFTER_MS, ...progressOf(video) }
}

export const cancelVideo = async (
  dependencies: VendorDependencies,
  jobId: string,
  signal: AbortSignal,
): Promise<void> => {
  const api = openCall(dependencies, signal)
  try {
    const client = await openClient(api)
    await client.videos.delete(jobId, { signal })
  } catch (error) {
    goneOrThrow(api, error)
  }
}

type Video = Partial<OpenAI.Video>

/** The final states of a job, except for success. The API documents only `failed`. */
const endings: Record<string, (video: Video) => ProviderOutcome> = {
  failed: ({ error, ...facts }) => ({
    ...jobFailed(isContentCode(error?.code) ? 'content_rejected' : 'provider_error'),
    ...workOf(facts),
  }),
  expired: () => jobFailed('provider_error'),
  cancelled: () => cancelled,
  canceled: () => cancelled,
}

const cancelled = failed('cancelled', 'The job was cancelled.')

/** Loads the content here, because its address requires the key. */
const download = async (api: ApiCall, jobId: string, { model, seconds }: Video): Promise<ProviderOutcome> => {
  const url = urlOf(api, `/videos/${encodeURIComponent(jobId)}/content`)
  try {
    const answer = await api.call.send(url, { headers: headersOf(api), signal: api.signal })
    const work = workOf({ model, usage: { seconds: Number(seconds) } })
    if (!isFile(answer)) return failed('provider_error', 'The provider returned no video.', work)
    const type = essenceOf(answer.headers['content-type'] ?? '')
    const mimeType = type.startsWith('video/') ? type : 'video/mp4'
    return { kind: 'done', media: [{ mimeType, ...api.call.files.fromBody(answer.body) }], ...work }
  } catch (error) {
    return goneOrThrow(api, error)
  }
}

const goneOrThrow = ({ call }: ApiCall, error: unknown): ProviderOutcome => {
  const status = call.refusal?.status
  if (status === 404 || status === 410) return jobFailed('provider_error')
  throw call.unanswered(error, failures)
}

const progressOf = ({ progress }: Video): { progress?: number } =>
  typeof progress === 'number' && Number.isFinite(progress)
    ? { progress: Math.min(Math.max(progress / 100, 0), 1) }
    : {}
