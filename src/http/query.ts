import type { Static, TObject } from 'typebox'
import { toPointerPart } from '../services/schema-check.ts'
import { ApiError } from '../transports/api-error.ts'
import { readerOf } from '../transports/validate.ts'
import { isUtf8Encoded } from './bodies/utf8.ts'
import type { Context } from './context.ts'

/**
 * No route takes nearly as many parameters. Checking a thousand invalid parameters would block the service for 50 ms.
 */
const MAX_PARAMETERS = 32

/** Returns a function that reads the query of a request, or throws invalid_request with the faults. */
export const queryReaderOf = <Shape extends TObject>(shape: Shape): ((ctx: Context) => Static<Shape>) => {
  const read = readerOf(shape, 'query')
  const types = new Map(Object.entries<Typed>(shape.properties).map(([name, { type }]) => [name, type]))
  return ctx => read(Object.fromEntries(parametersOf(ctx).map(([name, text]) => [name, toType(text, types.get(name))])))
}

interface Typed {
  type?: string
}

/** The parameters as text. Checks their number before they are parsed. */
const parametersOf = (ctx: Context): [name: string, text: string][] => {
  if (ctx.querystring === '') return []
  if (ctx.querystring.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS)
    throw new ApiError('invalid_request', `The query has more than ${MAX_PARAMETERS} parameters.`)
  if (!isUtf8Encoded(ctx.querystring)) throw new ApiError('invalid_request', 'The query is not in UTF-8.')
  return Object.entries(ctx.query).map(([name, value]) => {
    if (typeof value === 'string') return [name, value]
    const fault = { path: `/${toPointerPart(name)}`, message: 'must be given only once' }
    throw new ApiError('invalid_request', `Invalid query: ${fault.path} ${fault.message}.`, { errors: [fault] })
  })
}

/** Numbers and truth values arrive as text. Other text is passed on, and the check refuses it. */
const toType = (text: string, type?: string): unknown => {
  if (type === 'integer' && /^(0|[1-9]\d*)$/.test(text)) return Number(text)
  if (type === 'boolean' && /^(true|false)$/.test(text)) return text === 'true'
  return text
}
