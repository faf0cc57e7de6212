import type { InputMedia } from '../../../ports/input-media.ts'
import type { Failed, Job, Provider, ProviderOutcome, SubmittedJob } from '../../../ports/provider.ts'
import { LargeFiles } from '../large-files.ts'
import { DATA_URL_PLACE } from '../output-file.ts'
import { jobFailed, UpstreamCall } from '../upstream-call.ts'
import { assertKey, toDataUrl, unusableFile, type VendorDependencies, webhookFor, withFile } from '../vendor.ts'
import { createFalCallback } from './callback.ts'
import { openFal } from './client.ts'
import { failedJob, falFailures, type JobState, stateOf } from './failures.ts'
import { jobIdOf, namesOf } from './job-id.ts'
import { outcomeOf, workOf } from './result.ts'

/** The fastest models take a second. */
const FIRST_POLL_MS = 1_000

/** Pictures take seconds and films minutes. fal documents no limit of polls, and its own client polls every 500 ms. */
const POLL_MS = 2_000

/** States of a job with an outcome. The last three are not documented. */
const ENDED = /^(COMPLETED|FAILED|ERROR|CANCELL?ED)$/

/** Otherwise fal would run a job up to ten times: https://docs.fal.ai/model-apis/model-endpoints/reliability */
const HEADERS = { 'x-fal-no-retry': '1' }

/** A job that does not exist. Asking for its state costs nothing, and requires the same permission as jobs. */
const NO_JOB = 'fal-ai/flux/requests/00000000-0000-4000-8000-000000000000'

/** An account at fal. Its operation is `queue`: https://fal.ai/docs/documentation/model-apis/inference/queue */
export const createFalProvider = (dependencies: VendorDependencies): Provider => {
  const { key, baseUrl, request, useInputMedia } = dependencies
  assertKey(key, 'FAL_KEY')
  // A key has two parts. A response may repeat either.
  const secrets = [key, ...key.split(':').filter(part => part.length > 7)]

  const submit = async (job: Job, input: Record<string, unknown>, call: UpstreamCall, signal: AbortSignal) => {
    const { model } = job.upstream
    let answer: unknown
    try {
      const client = await openFal(dependencies, call)
      const webhookUrl = webhookFor(dependencies, job)
      const options = { input, abortSignal: signal, headers: HEADERS, ...(webhookUrl && { webhookUrl }) }
      answer = await client.queue.submit(model, options)
    } catch (error) {
      return call.failure(error, falFailures, secrets)
    }
    return { kind: 'submitted', jobId: jobIdOf(answer, model, baseUrl), pollAfterMs: FIRST_POLL_MS } as const
  }

  /** Rejects if the job's state is unknown. */
  const readState = async (jobId: string, signal: AbortSignal): Promise<JobState | Failed> => {
    const { app, requestId } = namesOf(jobId)
    const call = new UpstreamCall(request)
    try {
      const client = await openFal(dependencies, call, `${jobId}/status`)
      return stateOf(await client.queue.status(app, { requestId, abortSignal: signal }))
    } catch (error) {
      if (isGone(call)) return jobFailed('provider_error')
      throw call.unanswered(error, falFailures)
    }
  }

  const readResult = async (
    { jobId, upstream, openFile }: SubmittedJob,
    state: JobState,
    signal: AbortSignal,
  ): Promise<ProviderOutcome> => {
    const { app, requestId } = namesOf(jobId)
    const call = new UpstreamCall(request, new LargeFiles(openFile, DATA_URL_PLACE))
    let result: unknown
    try {
      const client = await openFal(dependencies, call, jobId)
      result = (await client.queue.result(app, { requestId, abortSignal: signal })).data
    } catch (error) {
      const failed = call.refusal && failedJob(call.refusal, state, secrets)
      if (failed) return { ...failed, work: workOf(call.headers) }
      throw call.unanswered(error, falFailures)
    }
    if (typeof result !== 'object' || result === null) throw new Error('the answer of fal is not JSON')
    return outcomeOf(result, upstream.output, workOf(call.headers), call.files)
  }

  return {
    async submit(job, signal) {
      if (job.upstream.operation !== 'queue') throw new Error(`fal has no operation ${job.upstream.operation}`)
      const call = new UpstreamCall(request)
      const toVendor = ({ mimeType, bytes }: InputMedia) => toDataUrl(mimeType, call.files.toBase64(bytes))
      return withFile(job, useInputMedia, signal, toVendor, input => submit(job, input, call, signal)).catch(error => {
        const unusable = unusableFile(error)
        if (unusable) return unusable
        throw error
      })
    },

    async poll(job, signal) {
      const state = await readState(job.jobId, signal)
      if ('kind' in state) return state
      if (ENDED.test(state.status)) return readResult(job, state, signal)
      // The place in the queue does not predict the time. It only shows that the work has not begun.
      return { kind: 'working', pollAfterMs: POLL_MS, ...(state.status === 'IN_QUEUE' && { progress: 0 }) }
    },

    async cancel({ jobId }, signal) {
      const { app, requestId } = namesOf(jobId)
      const call = new UpstreamCall(request)
      try {
        const client = await openFal(dependencies, call, `${jobId}/cancel`)
        await client.queue.cancel(app, { requestId, abortSignal: signal })
      } catch (error) {
        // The job has ended, which is a 400, or is gone.
        if (call.refusal?.status === 400 || isGone(call)) return
        throw call.unanswered(error, falFailures)
      }
    },

    async check(signal) {
      const { app, requestId } = namesOf(NO_JOB)
      const call = new UpstreamCall(request)
      try {
        const client = await openFal(dependencies, call, `${NO_JOB}/status`)
        await client.queue.status(app, { requestId, abortSignal: signal })
      } catch (error) {
        const status = call.refusal?.status
        if (status === 401) throw new Error('fal refuses the key; check FAL_KEY')
        if (status === 400 || status === 422 || isGone(call)) return
        const why = call.refusalText(falFailures, secrets) ?? call.unanswered(error, falFailures).message
        throw new Error(`${why}; check the account at fal, FAL_BASE_URL and the network`)
      }
    },

    readCallback: createFalCallback(dependencies),
  }
}

const isGone = ({ refusal }: UpstreamCall) => refusal?.status === 404 || refusal?.status === 410
