import type { FailureForm } from '../upstream-call.ts'

/**
 * How ElevenLabs states its errors: https://elevenlabs.io/docs/eleven-api/resources/errors. `code` is the newer name
 * of `status`.
 */
export const failures: FailureForm = {
  provider: 'ElevenLabs',
  rules: [
    // Music's responses to names of artists, as quoted by https://github.com/receptron/mulmocast-app/issues/1410.
    { code: /bad_prompt|bad_composition_plan|policy|moderation/, means: 'content_rejected' },
    { status: 400, message: /terms of service|(content|usage) policy/i, means: 'content_rejected' },
    // A 401: https://help.elevenlabs.io/hc/en-us/articles/19572237925521
    { code: /quota_exceeded|insufficient_credits|payment_required/, means: 'out_of_quota' },
    // The key works for other voices, models and formats.
    { code: /(voice|model)_(not_found|access_denied)|feature_not_available|subscription_required/, means: 'gone' },
    { code: /system_busy/, means: 'overloaded' },
  ],
  read: body => {
    const { detail } = (body ?? {}) as { detail?: unknown }
    if (typeof detail === 'string') return { message: detail }
    // The framework returns a list, with 422, for an invalid request.
    if (Array.isArray(detail)) return { message: detail.flatMap(wordsOf).join('; ') }
    const { code, status, type, message } = (detail ?? {}) as Record<string, unknown>
    const codes = [code, status, type].filter(one => typeof one === 'string').join(' ')
    return { code: codes, message: typeof message === 'string' ? message : undefined }
  },
}

const wordsOf = (fault: { loc?: unknown; msg?: unknown } | null): string[] => {
  const { loc, msg } = fault ?? {}
  if (typeof msg !== 'string') return []
  return [Array.isArray(loc) ? `${loc.at(-1)}: ${msg}` : msg]
}
