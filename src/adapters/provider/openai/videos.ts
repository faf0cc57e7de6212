import type OpenAI from 'openai'
import type { ProviderOutcome, Working } from '../../../ports/provider.ts'
import { jobFailed, UpstreamCall } from '../upstream-call.ts'
import { failed, objectIn, workOf } from './answer.ts'
import { type Operation, through } from './client.ts'
import { failures, isContentCode } from './failures.ts'

/** A video takes minutes. */
const POLL_AFTER_MS = 5_000

/** The longest recorded job ID. */
const MAX_JOB_ID_LENGTH = 255

/** https://platform.openai.com/docs/api-reference/videos. OpenAI has turned it off, but other servers have it. */
export const createVideo: Operation = async (client, parameters, options) => {
  const answer = await client.videos.create(parameters as unknown as OpenAI.VideoCreateParams, options)
  const { id } = objectIn(answer)
  if (typeof id !== 'string' || id === '' || id.length > MAX_JOB_ID_LENGTH || !id.isWellFormed())
    throw new Error('the answer of OpenAI has no video ID')
  return { kind: 'submitted', jobId: id, pollAfterMs: POLL_AFTER_MS }
}

/** Rejects if the video may still be available at the next poll. */
export const pollVideo = async (
  client: OpenAI,
  fetch: typeof globalThis.fetch,
  jobId: string,
  signal: AbortSignal,
): Promise<ProviderOutcome | Working> => {
  const call = new UpstreamCall(fetch)
  let video: Video
  try {
    video = objectIn(await client.videos.retrieve(jobId, through(call, signal)))
  } catch (error) {
    return goneOrThrow(call, error)
  }
  const status: string = video.status ?? ''
  if (status === 'completed') return download(client, fetch, jobId, video, signal)
  return endings[status]?.(video) ?? { kind: 'working', pollAfterMs: POLL_AFTER_MS, ...progressOf(video) }
}

export const cancelVideo = async (
  client: OpenAI,
  fetch: typeof globalThis.fetch,
  jobId: string,
  signal: AbortSignal,
): Promise<void> => {
  const call = new UpstreamCall(fetch)
  try {
    await client.videos.delete(jobId, through(call, signal))
  } catch (error) {
    goneOrThrow(call, error)
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
const download = async (
  client: OpenAI,
  fetch: typeof globalThis.fetch,
  jobId: string,
  { model, seconds }: Video,
  signal: AbortSignal,
): Promise<ProviderOutcome> => {
  const call = new UpstreamCall(fetch)
  try {
    const response = await client.videos.downloadContent(jobId, undefined, through(call, signal))
    const bytes = new Uint8Array(await response.arrayBuffer())
    const type = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? ''
    const work = workOf({ model, usage: { seconds: Number(seconds) } })
    const isFile = !/^(text\/|application\/json)/i.test(type)
    if (!isFile || bytes.byteLength === 0) return failed('provider_error', 'The provider returned no video.', work)
    return { kind: 'done', media: [{ mimeType: type.startsWith('video/') ? type : 'video/mp4', bytes }], ...work }
  } catch (error) {
    return goneOrThrow(call, error)
  }
}

const goneOrThrow = (call: UpstreamCall, error: unknown): ProviderOutcome => {
  const status = call.refusal?.status
  if (status === 404 || status === 410) return jobFailed('provider_error')
  throw call.unanswered(error, failures)
}

const progressOf = ({ progress }: Video): { progress?: number } =>
  typeof progress === 'number' && Number.isFinite(progress)
    ? { progress: Math.min(Math.max(progress / 100, 0), 1) }
    : {}
