import type { Failed } from '../../../ports/provider.ts'
import { jobFailed, type UpstreamCall } from '../upstream-call.ts'
import { CONTENT_CODES, CONTENT_WORDS, failures } from './failures.ts'
import { FileError } from './file.ts'

/** How often a job is polled. https://ai.google.dev/gemini-api/docs/video uses ten seconds. */
export const POLL_AFTER_MS = 10_000

/** The longest recorded job ID. */
const MAX_JOB_ID_LENGTH = 255

/** The ID of a job. Throws if the response has none, because the job could not be found again. */
export const jobIdIn = (id: unknown): string => {
  if (typeof id === 'string' && /^[\w.:/=~+-]+$/.test(id) && id.length <= MAX_JOB_ID_LENGTH) return id
  throw new Error('Google accepted a job without giving its ID')
}

/** Sends a request that polls a job. Returns the outcome if the job is gone. Rejects if the job may be polled again. */
export const polled = async <Answer>(call: UpstreamCall, poll: () => Promise<Answer>): Promise<Answer | Failed> => {
  try {
    return await poll()
  } catch (error) {
    const status = call.refusal?.status
    const isGone = error instanceof FileError ? error.isGone : status === 404 || status === 410
    if (isGone) return jobFailed('provider_error')
    throw error instanceof FileError ? error : call.unanswered(error, failures)
  }
}

/** The outcome of a job that failed with these errors. */
export const failedWith = (errors: readonly unknown[]): Failed => {
  const isForbidden = errors.some(error => {
    const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown }
    return CONTENT_CODES.test(String(code)) || CONTENT_WORDS.test(String(message))
  })
  return jobFailed(isForbidden ? 'content_rejected' : 'provider_error')
}
