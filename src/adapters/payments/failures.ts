import type { Stripe } from 'stripe'
import { Unavailable } from '../../ports/faults.ts'
import { PaymentRefused, PaymentsMisconfigured } from '../../ports/payments.ts'

/** The names of the package's errors: https://docs.stripe.com/error-handling?lang=node */
const AWAY = ['StripeConnectionError', 'StripeRateLimitError', 'StripeAPIError']

/** The error for whoever called. The package's own errors hold headers and bodies, which do not belong in the log. */
export const translated = (error: unknown): unknown => {
  if (!isStripeError(error)) return error
  const { type, code, statusCode, message, requestId } = error
  if (AWAY.includes(type)) return new Unavailable(`Stripe does not answer: ${statusCode ?? causeOf(error)}`)
  const at = requestId === undefined ? '' : ` (request ${requestId})`
  if (type === 'StripeAuthenticationError')
    return new PaymentsMisconfigured(`Stripe refuses STRIPE_SECRET_KEY; set a secret key of your account${at}`)
  if (type === 'StripePermissionError')
    return new PaymentsMisconfigured(`STRIPE_SECRET_KEY does not have the permission for this call${at}`)
  return new PaymentRefused(code ?? error.rawType ?? type, `Stripe refuses the request: ${message}${at}`)
}

export const isStripeError = (error: unknown): error is Stripe.errors.StripeError =>
  error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe')

export const isMissing = (error: unknown): boolean => isStripeError(error) && error.code === 'resource_missing'

/** The deepest code, since `fetch` hides the cause of its failures. */
const causeOf = ({ message, detail }: Stripe.errors.StripeError): string => {
  let code: string | undefined
  for (let cause: unknown = detail; cause instanceof Error; cause = cause.cause)
    code = (cause as NodeJS.ErrnoException).code ?? code
  return code ?? message
}
