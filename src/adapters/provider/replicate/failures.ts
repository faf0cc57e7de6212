import type { FailureForm } from '../upstream-call.ts'

/**
 * E005 is "The input or output was flagged as sensitive". Other models say "NSFW content detected". Neither is among
 * the codes at https://replicate.com/docs/reference/error-codes
 */
const REJECTED =
  /\bE005\b|flagged as (potentially )?sensitive|\bNSFW\b|safety (checker|filter|system)|content (policy|moderation)/i

export const replicateFailures: FailureForm = {
  provider: 'Replicate',
  rules: [
    { status: 400, message: REJECTED, means: 'content_rejected' },
    { status: 422, message: REJECTED, means: 'content_rejected' },
    // The model or version is gone, private, or not official.
    { status: 422, code: /version/i, means: 'gone' },
  ],
  // Problem details, as in {"title":"Insufficient credit","detail":"You have …","status":402}.
  read: body => {
    const { title, detail, retry_after } = asObject(body)
    const message = text(detail) ?? text(title)
    return { code: text(title), message, retryAfterMs: waitOf(retry_after, message) }
  },
}

/** Whether a prediction's error means that its content is forbidden. */
export const isRejected = (error: unknown): boolean => REJECTED.test(text(error) ?? JSON.stringify(error ?? ''))

/** Seconds, which the body states: https://replicate.com/docs/topics/predictions/rate-limits */
const waitOf = (retryAfter: unknown, detail: string | undefined): number | undefined => {
  if (typeof retryAfter === 'number') return retryAfter * 1000
  const seconds = /resets in ~?(\d+(?:\.\d+)?) ?s/.exec(detail ?? '')?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
