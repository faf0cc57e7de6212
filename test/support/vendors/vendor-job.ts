import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { openVendorFetch } from '../../../src/adapters/outbound/vendor-fetch.ts'
import type { VendorParts } from '../../../src/adapters/provider/vendor.ts'
import type { InputMedia } from '../../../src/ports/input-media.ts'
import type { Job, Provider, SubmittedJob, UpstreamRequest } from '../../../src/ports/provider.ts'
import { accountId, runId } from '../account-samples.ts'
import { submittedJob } from '../submitted-job.ts'

/** A job whose upstream request is this one. */
export const vendorJob = (upstream: UpstreamRequest): Job => ({
  runId: runId(),
  accountId: accountId(),
  endpoint: 'any',
  input: {},
  upstream,
})

/** The same job as it is polled, perhaps by another process. */
export const acceptedJob = (job: Job, jobId: string): SubmittedJob => ({ ...submittedJob(job), jobId })

/** The means of an adapter, with the real `fetch`. Every file of an input is this one. */
export const vendorParts = (t: Test, account: Pick<VendorParts, 'key' | 'baseUrl'>, file?: InputMedia): VendorParts => {
  const { fetch, close } = openVendorFetch()
  t.teardown(close)
  const useInputMedia: VendorParts['useInputMedia'] = async (_source, _signal, use) => {
    if (!file) throw new Error('the job has no file')
    return use(file)
  }
  return { ...account, fetch, useInputMedia }
}

/** Submits a job that is accepted. */
export const accepted = async (provider: Provider, job: Job): Promise<SubmittedJob> => {
  const answer = await provider.submit(job, new AbortController().signal)
  if (answer.kind !== 'submitted') throw new Error(`the job was not accepted: ${JSON.stringify(answer)}`)
  return acceptedJob(job, answer.jobId)
}

/** An address at which nobody listens. */
export const deserted = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return `http://127.0.0.1:${port}`
}
