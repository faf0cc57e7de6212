/** An answer in Stripe's form of errors: https://docs.stripe.com/api/errors */
export class StripeFault extends Error {
  readonly status: number
  readonly error: Record<string, unknown>

  constructor(status: number, error: { type: string; message: string } & Record<string, unknown>) {
    super(error.message)
    this.status = status
    this.error = error
  }

  get body() {
    return { error: this.error }
  }
}

/** https://docs.stripe.com/error-codes */
export const invalid = (message: string, details: { code?: string; param?: string } = {}, status = 400) =>
  new StripeFault(status, { type: 'invalid_request_error', message, ...details })

/** https://docs.stripe.com/error-codes#resource-missing */
export const missing = (kind: string, id: string, param = 'id') =>
  invalid(`No such ${kind}: '${id}'`, { code: 'resource_missing', param }, 404)

/** https://docs.stripe.com/error-codes#parameter-unknown */
export const unknownParameter = (param: string) =>
  invalid(`Received unknown parameter: ${param}`, { code: 'parameter_unknown', param })

/** https://docs.stripe.com/error-codes#parameter-missing */
export const missingParameter = (param: string) =>
  invalid(`Missing required param: ${param}.`, { code: 'parameter_missing', param })

/** A bank's refusal: https://docs.stripe.com/error-handling#payment-errors */
export const cardError = (details: { code: string; decline_code?: string; message: string; payment_intent?: object }) =>
  new StripeFault(402, { type: 'card_error', ...details })

/** https://docs.stripe.com/api/errors#errors-type */
export const apiError = () =>
  new StripeFault(500, { type: 'api_error', message: 'An unexpected error occurred; we have been notified.' })

/** https://docs.stripe.com/rate-limits */
export const rateLimit = () =>
  new StripeFault(429, {
    ...{ type: 'invalid_request_error', code: 'rate_limit' },
    message: 'Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.',
  })
