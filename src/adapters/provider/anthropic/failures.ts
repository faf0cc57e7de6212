import type { FailureForm } from '../upstream-call.ts'

/**
 * How Anthropic states its errors: https://platform.claude.com/docs/en/api/errors. The codes of causes are those of
 * `error.details.error_code` in the types of its client, `resources/shared.d.ts`.
 */
export const failures: FailureForm = {
  provider: 'Anthropic',
  rules: [
    // https://github.com/anthropics/claude-code/issues/6195
    { status: 400, message: /blocked by content filtering policy/i, means: 'content_rejected' },
    // https://github.com/anthropics/anthropic-sdk-typescript/issues/618
    { status: 400, message: /credit balance is too low/i, means: 'out_of_quota' },
    // https://platform.claude.com/docs/en/api/rate-limits#spend-limits
    { status: 400, message: /reached your specified API usage limits/i, means: 'out_of_quota' },
    { status: 429, code: /contract_spend_limit_reached|enforced_spend_limit_reached/, means: 'out_of_quota' },
    {
      code: /organization_on_hold|claude_code_key_creator_not_member|cmek_key_(disabled|network_blocked)/,
      means: 'unauthorized',
    },
    { status: 400, message: /organization has been disabled/i, means: 'unauthorized' },
    { code: /timeout_error/, means: 'unknown' },
  ],
  read: body => {
    const { error } = (body ?? {}) as { error?: { type?: unknown; message?: unknown; details?: unknown } | null }
    const { error_code: cause } = (error?.details ?? {}) as { error_code?: unknown }
    return {
      code: [error?.type, cause].filter(part => typeof part === 'string').join(' '),
      message: typeof error?.message === 'string' ? error.message : undefined,
    }
  },
}
