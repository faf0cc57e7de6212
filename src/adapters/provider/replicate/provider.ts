import type { Failed, Job, Provider, Submitted } from '../../../ports/provider.ts'
import { LargeFiles } from '../large-files.ts'
import { DATA_URL_PLACE } from '../output-file.ts'
import { jobFailed, UpstreamCall } from '../upstream-call.ts'
import { assertKey, unusableFile, type VendorDependencies, webhookFor, withFile } from '../vendor.ts'
import { createReplicateCallback } from './callback.ts'
import { openReplicate } from './client.ts'
import { replicateFailures } from './failures.ts'
import { inputAddress } from './input-file.ts'
import { outcomeOf, pollAfterMs, predictionOf, TEXT } from './prediction.ts'

/** Statuses of a refused call that do not concern its prediction. */
const OF_CALL = [401, 402, 403, 408, 429]

/** An account at Replicate. Its operation is `predictions`: https://replicate.com/docs/reference/http */
export const createReplicateProvider = (dependencies: VendorDependencies): Provider => {
  const { key, request, useInputMedia } = dependencies
  assertKey(key, 'REPLICATE_API_TOKEN')
  const secrets = [key]

  const create = async (job: Job, input: Record<string, unknown>, signal: AbortSignal): Promise<Submitted | Failed> => {
    const call = new UpstreamCall(request)
    let answer: unknown
    try {
      const client = await openReplicate(dependencies, call)
      const webhook = webhookFor(dependencies, job)
      const report = webhook === undefined ? {} : { webhook, webhook_events_filter: ['completed' as const] }
      answer = await client.predictions.create({ ...modelOf(job.upstream.model), input, ...report, signal })
    } catch (error) {
      return call.failure(error, replicateFailures, secrets)
    }
    const prediction = predictionOf(answer)
    return { kind: 'submitted', jobId: prediction.id, pollAfterMs: pollAfterMs(prediction) }
  }

  return {
    async submit(job, signal) {
      const { operation } = job.upstream
      if (operation !== 'predictions') throw new Error(`Replicate has no operation ${operation}`)
      let failed: Failed | undefined
      const toVendor = async (media: Parameters<typeof inputAddress>[1]) => {
        const address = await inputAddress(dependencies, media, signal)
        if (typeof address !== 'string') failed = address
        return address
      }
      const use = async (input: Record<string, unknown>) => failed ?? create(job, input, signal)
      return withFile(job, useInputMedia, signal, toVendor, use).catch(error => {
        const unusable = unusableFile(error)
        if (unusable) return unusable
        throw error
      })
    },

    async poll({ jobId, upstream, openFile }, signal) {
      const files = upstream.output === TEXT ? new LargeFiles() : new LargeFiles(openFile, DATA_URL_PLACE)
      const call = new UpstreamCall(request, files)
      try {
        const client = await openReplicate(dependencies, call)
        return outcomeOf(predictionOf(await client.predictions.get(jobId, { signal })), upstream.output, call.files)
      } catch (error) {
        const status = call.refusal?.status
        if (status === 404 || status === 410) return jobFailed('provider_error')
        throw call.unanswered(error, replicateFailures)
      }
    },

    async cancel({ jobId }, signal) {
      const call = new UpstreamCall(request)
      try {
        const client = await openReplicate(dependencies, call)
        await client.predictions.cancel(jobId, { signal })
      } catch (error) {
        // The prediction has ended or is gone.
        const status = call.refusal?.status
        if (status !== undefined && status >= 400 && status < 500 && !OF_CALL.includes(status)) return
        throw call.unanswered(error, replicateFailures)
      }
    },

    /** https://replicate.com/docs/reference/http#account.get */
    async check(signal) {
      const call = new UpstreamCall(request)
      try {
        const client = await openReplicate(dependencies, call)
        await client.accounts.current({ signal })
      } catch (error) {
        if (call.refusal?.status === 401) throw new Error('Replicate refuses the key; check REPLICATE_API_TOKEN')
        const why = call.refusalText(replicateFailures, secrets) ?? call.unanswered(error, replicateFailures).message
        throw new Error(`${why}; check the account at Replicate, REPLICATE_BASE_URL and the network`)
      }
    },

    readCallback: createReplicateCallback(dependencies),
  }
}

/** A version of a model, or an official model by name. */
const modelOf = (model: string): { version: string } | { model: string } => {
  const version = /^(?:[^:]+:)?([0-9a-f]{64})$/.exec(model)?.[1]
  return version === undefined ? { model } : { version }
}
