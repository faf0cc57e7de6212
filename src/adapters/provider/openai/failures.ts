import type { FailureForm } from '../upstream-call.ts'

/**
 * `moderation_blocked` is the code of gpt-image models, as quoted by https://github.com/jeffstric/ZJT/issues/480,
 * `content_policy_violation` the code of older models, and `content_filter` the code of Azure:
 * https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter.
 */
const CONTENT_CODES = /moderation_blocked|content_policy|content_filter/

/**
 * As quoted by https://github.com/RanFeng/clipsketch-ai/issues/6 for images, and for text, with the code
 * `invalid_prompt`, by https://github.com/BeehiveInnovations/pal-mcp-server/issues/178.
 */
const CONTENT_WORDS = /safety system|flagged as potentially violating|usage polic|content polic/i

/**
 * With 429: https://developers.openai.com/api/docs/guides/error-codes. For images with 400, as quoted by
 * https://github.com/dfinke/PowerShellAI/issues/127.
 */
const BILLING_CODES = new RegExp(
  [
    'insufficient_quota|credit_balance_exhausted|billing_hard_limit_reached|billing_not_active',
    '(organization|project)_(spend|usage)_limit_exceeded',
  ].join('|'),
)

/** The error forms of OpenAI, Ollama, vLLM and LocalAI. */
export const failures: FailureForm = {
  provider: 'OpenAI',
  rules: [
    { code: CONTENT_CODES, means: 'content_rejected' },
    { status: 400, message: CONTENT_WORDS, means: 'content_rejected' },
    { code: BILLING_CODES, means: 'out_of_quota' },
    // The key works for other models: https://developers.openai.com/api/docs/guides/error-codes
    { code: /model_not_found/, means: 'gone' },
    // Some models require a verified organisation, as quoted by https://github.com/openai-php/client/issues/565.
    { message: /organization must be verified/i, means: 'gone' },
  ],
  read: body => {
    // `{ error: { message, type, code } }`. Older vLLM omits the envelope, and Ollama may send only a text.
    if (typeof body !== 'object' || body === null) return {}
    const { error = body } = body as { error?: unknown }
    if (typeof error === 'string') return { message: error }
    const { code, type, message } = (error ?? {}) as Record<string, unknown>
    const codes = [code, type].filter(one => typeof one === 'string').join(' ')
    return { code: codes, message: typeof message === 'string' ? message : undefined }
  },
}

export const isContentCode = (code: unknown): boolean => typeof code === 'string' && CONTENT_CODES.test(code)
