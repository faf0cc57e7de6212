import type { ErrorType, Fault } from '../../../../schemas/api/error.ts'
import type { RunRow } from '../../../../schemas/views.ts'
import { ApiError } from '../../../transports/api-error.ts'
import type { Context, Middleware } from '../../context.ts'

/** The header by which OpenAI's clients decide whether to repeat a request. */
export const SHOULD_RETRY = 'X-Should-Retry'

/** The client's names of parameters that a model's input has under another name. */
export type ParameterNames = Readonly<Record<string, string>>

/** Gives the errors of a route the further fields of OpenAI's errors. Comes before all steps that may fail. */
export const openAiErrors =
  (names: ParameterNames = {}): Middleware =>
  (ctx, next) => {
    ctx.state.toClientsForm = error => {
      if (!ctx.response.get(SHOULD_RETRY)) ctx.set(SHOULD_RETRY, String(mayHelp(error)))
      const isSent = (name: string) => Object.hasOwn(Object(ctx.request.body), name)
      const isNamed = (name: string) => Object.hasOwn(names, name)
      return inForm(error, name => (isNamed(name) && !isSent(name) ? (names[name] as string) : name))
    }
    return next()
  }

/** OpenAI's clients wait up to a minute before they repeat a request. A wait as long is better left to their users. */
const MAX_RETRY_SECONDS = 60

/** Whether a repetition may succeed. */
const mayHelp = ({ status, retryAfterSeconds = 0 }: ApiError) =>
  status === 429 || (status >= 500 && retryAfterSeconds < MAX_RETRY_SECONDS)

/** Refuses every further repetition of a request: it would get the same answer. */
export const refuseRetries = (ctx: Context) => ctx.set(SHOULD_RETRY, 'false')

/** The client's body has no `input`: its parameters are those of the body. */
const inForm = (
  { code, status, message, details, cause, retryAfterSeconds }: ApiError,
  nameOf: (parameter: string) => string,
) => {
  const errors = details.errors?.map(fault => ({ ...fault, path: pathIn(fault.path, nameOf) }))
  const [first] = details.errors ?? []
  const param = first ? paramOf(pathIn(first.path, nameOf)) : null
  const told = code === 'invalid_input' && first ? withFault(message, first, param) : message
  const shown = { ...details, type: typeOf(status), param, ...(errors && { errors }) }
  return new ApiError(code, told, shown, { cause, retryAfterSeconds })
}

/** Clients show their users only the message. Some messages begin with the place, and tell the fault. */
const withFault = (message: string, { path, message: fault }: Fault, param: string | null) => {
  const place = path.replace(/^\/(input\/(?=\D))?/, '')
  return place !== '' && message.startsWith(place)
    ? `${param}${message.slice(place.length)}`
    : `${message} ${param} ${fault}.`
}

const pathIn = (path: string, nameOf: (parameter: string) => string) =>
  path.replace(/^\/input(?=\/\D)/, '').replace(/^\/(\w+)/, (_, name: string) => `/${nameOf(name)}`)

/** A JSON Pointer in the way of OpenAI, such as `messages[0].content`; null for the whole body. */
const paramOf = (path: string): string | null =>
  path
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.') || null

/** The error of a failed run within a stream, whose status is sent already. */
export const errorOf = ({ error }: Pick<RunRow, 'error'>) => {
  const { code = 'interrupted', message = 'The run has not ended yet.' } = error ?? {}
  return { code, message, type: 'api_error', param: null }
}

const typeOf = (status: number): ErrorType => types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')

const types: Record<number, ErrorType> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  429: 'rate_limit_error',
}
