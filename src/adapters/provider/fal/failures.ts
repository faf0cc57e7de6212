import type { Failed } from '../../../ports/provider.ts'
import { headerOf } from '../callback.ts'
import { type FailureForm, jobFailed, type Refusal } from '../upstream-call.ts'

/** Types of errors that do not blame the request: https://fal.ai/docs/documentation/model-apis/request-errors */
const OF_SERVICE =
  /^(internal_|downstream_|runner_|client_|generation_timeout|request_timeout|startup_timeout|no_media)/

/** Statuses of a result that concern the call, unless the job is known to have failed. */
const OF_CALL = [401, 402, 403, 408, 429]

export const falFailures: FailureForm = {
  provider: 'fal',
  rules: [
    // https://fal.ai/docs/documentation/model-apis/errors
    { code: /^content_policy_violation$/, means: 'content_rejected' },
    // Not documented; seen as "User is locked. Reason: Exhausted balance. Top up your balance at …".
    // Both forms are quoted by https://github.com/fal-ai/fal/issues/1163.
    { status: 403, message: /exhausted balance|top[ _]up/i, means: 'out_of_quota' },
    { status: 400, code: OF_SERVICE, means: 'overloaded' },
  ],
  read: body => {
    const { detail, error_type, message } = asObject(body)
    // For an invalid request: a text, and a type beside it.
    if (!Array.isArray(detail)) return { code: text(error_type), message: text(detail) ?? text(message) }
    // For a refusal of a model: a list of objects, each with a type.
    const issues = detail.map(asObject)
    const policy = issues.find(({ type }) => type === 'content_policy_violation')
    return { code: text((policy ?? issues[0])?.['type']), message: issues.map(wordsOf).join('; ') }
  },
}

/** A job's state: https://fal.ai/docs/documentation/model-apis/inference/queue */
export interface JobState {
  status: string
  /** Set only if the job failed. */
  error: string | undefined
  errorType: string | undefined
}

/** Throws if the response is not a state. */
export const stateOf = (answer: unknown): JobState => {
  const { status, error, error_type } = asObject(answer)
  if (typeof status !== 'string') throw new Error('fal sent no status for the job')
  return { status, error: text(error), errorType: text(error_type) }
}

/** The outcome of a job whose result is refused; undefined if the refusal does not concern the job. */
export const failedJob = (
  { status, headers, body }: Refusal,
  state: JobState,
  secrets: readonly string[],
): Failed | undefined => {
  const { code, message } = falFailures.read(body)
  const type = code ?? headerOf(headers, 'x-fal-error-type') ?? state.errorType ?? ''
  const hasFailed = state.error !== undefined || state.errorType !== undefined
  const isGone = status === 404 || status === 410
  // A gateway that cannot reach fal states no type. A later poll finds out more.
  const isOfJob = !OF_CALL.includes(status) && (type !== '' || status === 422 || (status === 500 && message))
  if (!hasFailed && !isGone && !isOfJob) return undefined
  if (isPolicy(type) || isPolicy(state.error ?? '')) return jobFailed('content_rejected')
  if ((status === 400 || status === 422) && !OF_SERVICE.test(type)) return jobFailed('invalid_input', message, secrets)
  return jobFailed('provider_error')
}

const isPolicy = (words: string) => words.includes('content_policy_violation')

const wordsOf = ({ loc, msg }: Record<string, unknown>): string => {
  const place = Array.isArray(loc) ? loc.filter(part => part !== 'body').join('.') : ''
  return [place, text(msg)].filter(Boolean).join(': ')
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)

const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
