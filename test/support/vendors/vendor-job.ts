import type { AccountId, RunId } from '../../../schemas/primitives.ts'
import type { Job, Provider, SubmittedJob, UpstreamRequest } from '../../../src/ports/provider.ts'
import { openFile } from './arriving-file.ts'

/** A job for a vendor, whose adapter reads nothing of it but what it is asked for. */
export const vendorJob = (upstream: UpstreamRequest): Job => ({
  runId: 'run_01jx00000000000000000000aa' as RunId,
  accountId: 'acct_01jx00000000000000000000aa' as AccountId,
  endpoint: 'any',
  input: {},
  upstream,
  openFile,
})

/** The same job as it is polled, perhaps by another process. */
export const acceptedJob = ({ input, upstream: { parameters: _, ...upstream }, ...job }: Job, jobId: string) =>
  ({ ...job, upstream, jobId, input: async () => input }) satisfies SubmittedJob

/** Submits a job that is accepted. */
export const accepted = async (provider: Provider, job: Job): Promise<SubmittedJob> => {
  const answer = await provider.submit(job, new AbortController().signal)
  if (answer.kind !== 'submitted') throw new Error(`the job was not accepted: ${JSON.stringify(answer)}`)
  return acceptedJob(job, answer.jobId)
}
