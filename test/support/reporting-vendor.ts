import type { Provider, SubmittedJob } from '../../src/ports/provider.ts'
import { boundTo } from './bound-to.ts'
import { doneFor } from './done.ts'

/** The longest that the service waits between two polls, so that only a report ends a job soon. */
const POLL_AFTER_MS = 60_000

export interface ReportingVendor {
  provider: Provider
  /** The ids of submitted jobs. */
  jobIds: string[]
  polled: string[]
  isDone: boolean
}

/** The names of the provider and its bindings. */
export const reporting = { bindingsOf: boundTo('vendor') }

/** A vendor that is polled so rarely that jobs end only by its callbacks, which hold the last part of their ids. */
export const reportingVendor = (): ReportingVendor => {
  const vendor: ReportingVendor = {
    jobIds: [],
    polled: [],
    isDone: false,
    provider: {
      submit: async ({ runId }) => {
        const jobId = `app/requests/of-${runId}`
        vendor.jobIds.push(jobId)
        return { kind: 'submitted', jobId, pollAfterMs: POLL_AFTER_MS }
      },
      poll: async (job: SubmittedJob) => {
        vendor.polled.push(job.jobId)
        if (!vendor.isDone) return { kind: 'working', pollAfterMs: POLL_AFTER_MS }
        return doneFor({ endpoint: job.endpoint, input: await job.input() })
      },
      readCallback: async ({ 'x-signature': signature }, body) => {
        if (signature === 'unknown') throw new Error('the keys cannot be fetched')
        return signature === 'good' ? { jobId: Buffer.from(body).toString() } : undefined
      },
    },
  }
  return vendor
}

/** The end of a run's job, as the vendor reports it to a process. */
export const report = async (url: string, runId: string, { signature = 'good', jobId = `of-${runId}` } = {}) => {
  const path = `/callbacks/vendor?run=${runId}`
  const answer = await fetch(url.replace('//localhost', '//127.0.0.1') + path, {
    method: 'POST',
    headers: { 'X-Signature': signature },
    body: jobId,
  })
  await answer.body?.cancel()
  return answer.status
}
