import type { Media, ProviderOutcome, Submitted, SubmittedJob, Working } from '../../../ports/provider.ts'
import { LargeFiles } from '../large-files.ts'
import { UpstreamCall } from '../upstream-call.ts'
import type { VendorDependencies } from '../vendor.ts'
import { openClient } from './client.ts'
import { FILE_PLACE, readFile } from './file.ts'
import { failedWith, jobIdIn, POLL_AFTER_MS, polled } from './jobs.ts'
import { listOf, unitsOf, workOf } from './usage.ts'

type Parameters = Record<string, unknown>

/** The fields of an answer that are read: https://ai.google.dev/api/interactions-api#Resource:Interaction */
interface Interaction {
  id?: unknown
  status?: unknown
  model?: unknown
  steps?: unknown
  errors?: unknown
  usage?: unknown
}

/** Final states. The last two come from other Google APIs. */
const ENDED =
  /^(completed|failed|cancelled|incomplete|budget_exceeded|requires_action|requires_continuation|aborted|expired)$/

/** The kinds of output, and the type of a file that states none. */
const FILES: Record<string, string> = { audio: 'audio/mpeg', image: 'image/png', video: 'video/mp4' }

/** By default, the client makes up to five requests. */
const options = (signal: AbortSignal) => ({ signal, maxRetries: 0 })

/**
 * https://ai.google.dev/gemini-api/docs/interactions, which Lyria requires. The parameters are those of the API, with
 * an `image` beside the `input`. With `background`, the response is a job.
 */
export const createInteraction = async (
  dependencies: VendorDependencies,
  model: string,
  { input, image, ...parameters }: Parameters,
  call: UpstreamCall,
  signal: AbortSignal,
): Promise<ProviderOutcome | Submitted> => {
  const client = await openClient(dependencies, call)
  const request = {
    ...parameters,
    model,
    input: image === undefined ? input : [image, { type: 'text', text: input }],
    stream: false,
    // By default, the client makes further requests, each paid, to finish a long answer.
    ...(parameters['background'] !== true && { automatic_continuation: false }),
  }
  const answer: Interaction = await client.interactions.create(request as never, options(signal))
  const outcome = await outcomeOf(dependencies, answer, call.files, signal)
  if (outcome.kind !== 'working') return outcome
  return { kind: 'submitted', jobId: jobIdIn(answer.id), pollAfterMs: POLL_AFTER_MS }
}

export const pollInteraction = async (
  dependencies: VendorDependencies,
  { jobId, openFile }: SubmittedJob,
  signal: AbortSignal,
): Promise<ProviderOutcome | Working> => {
  const call = new UpstreamCall(dependencies.request, new LargeFiles(openFile, FILE_PLACE))
  const client = await openClient(dependencies, call)
  return polled(call, async () => {
    const answer: Interaction = await client.interactions.get(jobId, undefined, options(signal))
    return outcomeOf(dependencies, answer, call.files, signal)
  })
}

export const cancelInteraction = async (
  dependencies: VendorDependencies,
  { jobId }: SubmittedJob,
  signal: AbortSignal,
) => {
  const call = new UpstreamCall(dependencies.request)
  const client = await openClient(dependencies, call)
  await polled(call, async () => client.interactions.cancel(jobId, undefined, options(signal)))
}

const outcomeOf = async (
  dependencies: VendorDependencies,
  { status, steps, errors, usage, model }: Interaction,
  files: LargeFiles,
  signal: AbortSignal,
): Promise<ProviderOutcome | Working> => {
  if (!ENDED.test(String(status))) return { kind: 'working', pollAfterMs: POLL_AFTER_MS }
  const work = workOf(model, unitsOf(usage))
  const outputs = (listOf(steps) as (Parameters | null)[]).filter(step => step?.['type'] === 'model_output')
  const items = outputs.flatMap(output => listOf(output?.['content'])) as (Parameters | null)[]
  const media: Media[] = []
  for (const item of items) {
    const { type, data, uri, mime_type: mimeType } = item ?? {}
    const usual = FILES[String(type)]
    if (usual === undefined) continue
    const file = await readFile(
      dependencies,
      { data, uri, mimeType: typeof mimeType === 'string' ? mimeType : usual },
      files,
      signal,
    )
    if (file) media.push(file)
  }
  if (media.length > 0) {
    const text = items.map(item => (item?.['type'] === 'text' ? String(item['text']) : '')).join('')
    return { kind: 'done', media, ...(text && { text }), work }
  }
  return { ...failedWith([...listOf(errors), ...outputs.map(output => output?.['error'])]), work }
}
