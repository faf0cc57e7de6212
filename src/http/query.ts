import { ApiError } from './api-error.ts'
import type { Context } from './context.ts'

/** No route has nearly as many. A thousand that are invalid would hold the service for 50 ms. */
const MAX_PARAMETERS = 32

/** The query of a request. Throws invalid_request if it has too many parameters, before they are parsed. */
export const queryOf = (ctx: Context): Context['query'] => {
  if (ctx.querystring.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS)
    throw new ApiError('invalid_request', `The query has more than ${MAX_PARAMETERS} parameters.`)
  return ctx.query
}
