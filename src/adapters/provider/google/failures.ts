import type { FailureForm, Reading } from '../upstream-call.ts'

/**
 * Messages of forbidden content, where Google states no reason as data: operations of Veo, and refusals of prompts.
 * https://ai.google.dev/gemini-api/docs/video#limitations; https://github.com/HKUDS/ViMax/issues/20 quotes the texts.
 */
export const CONTENT_WORDS = /Responsible AI|usage guidelines|safety filter|blocked (by|due to|for) .*(safety|policy)/i

/** Reasons of the Interactions API that blame the content: https://ai.google.dev/gemini-api/docs/api-errors */
export const CONTENT_CODES = /safety|prohibited_content|recitation|blocklist|spii|content_(blocked|filter|policy)/i

/**
 * How Google states its errors: `{ error: { code, message, status, details } }`, where `code` is the HTTP status,
 * https://ai.google.dev/gemini-api/docs/generate-content/api-errors. The Interactions API has a reason in `code` and no
 * `status`, https://ai.google.dev/gemini-api/docs/api-errors.
 */
export const failures: FailureForm = {
  provider: 'Google',
  rules: [
    // https://github.com/google-gemini/gemini-cli/issues/2029: status 400, reason API_KEY_INVALID.
    { status: 400, code: /API_KEY_(INVALID|EXPIRED)/, means: 'unauthorized' },
    { status: 400, message: /API key (not valid|expired|not found)/i, means: 'unauthorized' },
    // "Imagen API is only accessible to billed users at this time", "… free tier is not available in your country".
    { status: 400, message: /billed users|enable billing|free tier/i, means: 'out_of_quota' },
    // "User location is not supported for the API use."
    { status: 400, code: /^failed_precondition/i, means: 'unauthorized' },
    { status: 400, code: CONTENT_CODES, means: 'content_rejected' },
    { status: 400, message: CONTENT_WORDS, means: 'content_rejected' },
    // Daily quotas end at midnight in California, quotas per minute soon.
    // https://github.com/google-gemini/gemini-cli/issues/8437 quotes the IDs. A limit of 0 means that the plan does not
    // include the model.
    { status: 429, code: /PerDay|^quota_exceeded/, means: 'out_of_quota' },
    { status: 429, message: /\blimit: 0\b/, means: 'out_of_quota' },
    // Prepaid credit, and spend caps of a project or tier: https://ai.google.dev/gemini-api/docs/billing
    { status: 429, message: /prepa(id|yment)|credits are depleted|spend(ing)? (cap|limit)/i, means: 'out_of_quota' },
    { code: /^(cancelled|deadline_exceeded)/i, means: 'unknown' },
    // The request conflicted with another and may be sent again.
    { status: 409, code: /^aborted/i, means: 'overloaded' },
  ],
  read: body => {
    const { error } = (Array.isArray(body) ? body[0] : body) ?? {}
    const { status, code, message, details } = error ?? {}
    return { ...readDetails(Array.isArray(details) ? details : [], status ?? code), message: textOf(message) }
  },
}

/** https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto */
interface Detail {
  /** Of ErrorInfo. */
  reason?: unknown
  /** Of QuotaFailure. */
  violations?: unknown
  /** Of RetryInfo, such as `39.5s`. */
  retryDelay?: unknown
}

const readDetails = (details: (Detail | null)[], status: unknown): Reading => {
  const codes = [textOf(status)]
  let retryAfterMs: number | undefined
  for (const { reason, violations, retryDelay } of details.filter(detail => detail !== null)) {
    codes.push(textOf(reason))
    if (Array.isArray(violations)) codes.push(...violations.map(violation => textOf(violation?.quotaId)))
    const seconds = /^(\d+(\.\d+)?)s$/.exec(textOf(retryDelay) ?? '')?.[1]
    if (seconds !== undefined) retryAfterMs = Math.ceil(Number(seconds) * 1000)
  }
  return { code: codes.filter(Boolean).join(' '), retryAfterMs }
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
