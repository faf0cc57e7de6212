import type { Failed, Job, Provider, SubmittedJob } from '../../src/ports/provider.ts'
import { doneFor } from './done.ts'
import type { JobReport } from './vendor.ts'

/** The poll interval: the shortest that the service allows. */
const POLL_AFTER_MS = 100

/** Calls the vendor in `vendor.ts` like an adapter of a real vendor. */
export const createVendorProvider = (url: string): Provider => {
  const send = async ({ jobId }: SubmittedJob, signal: AbortSignal, method = 'GET'): Promise<JobReport> => {
    const answer = await fetch(`${url}/jobs/${jobId}`, { method, signal })
    if (!answer.ok) throw new Error(`the vendor answered ${method} with ${answer.status}`)
    return (await answer.json()) as JobReport
  }
  return {
    deduplicates: true,
    submit: async ({ runId, input }: Job, signal) => {
      const headers = { 'Idempotency-Key': runId }
      const answer = await fetch(`${url}/jobs`, { method: 'POST', headers, body: JSON.stringify(input), signal })
      const body = (await answer.json()) as { id: string; message: string }
      if (!answer.ok) return failure(answer.status, body.message)
      return { kind: 'submitted', jobId: body.id, pollAfterMs: POLL_AFTER_MS }
    },
    poll: async (job, signal) => {
      const report = await send(job, signal)
      if (report.status === 'working') return { kind: 'working', pollAfterMs: POLL_AFTER_MS, progress: report.progress }
      if (report.status === 'cancelled') return failure(410, 'The job was cancelled.')
      if ('text' in report) return doneFor({ endpoint: job.endpoint, input: {} }, report.text)
      return { kind: 'done', media: [{ mimeType: 'image/png', url: report.mediaUrl }] }
    },
    cancel: async (job, signal) => {
      await send(job, signal, 'DELETE')
    },
  }
}

/** A status that blames the request is not retried. */
const failure = (status: number, message: string): Failed =>
  status < 500
    ? { kind: 'failed', code: 'content_rejected', message }
    : { kind: 'failed', code: 'provider_error', message, retryable: true }
