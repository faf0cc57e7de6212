import type { Next } from 'koa'
import { koaBody } from 'koa-body'
import { MAX_BODY_BYTES, MAX_JSON_DEPTH } from '../../../schemas/primitives.ts'
import { toPointerPart } from '../../services/schema-check.ts'
import { ApiError } from '../api-error.ts'
import type { Context } from '../context.ts'

const parse = koaBody({
  json: true,
  urlencoded: false,
  text: false,
  multipart: false,
  jsonLimit: MAX_BODY_BYTES,
  onError: error => {
    throw toApiError(error)
  },
})

/**
 * Reads a JSON body into `ctx.request.body`. Refuses bodies that are not JSON, too large, too deep or not well-formed
 * Unicode.
 */
export const jsonBody = async (ctx: Context, next: Next) => {
  if (ctx.is('json') === null) throw invalid('', 'The body is missing; it must be JSON.', 'is required')
  if (!ctx.is('json')) {
    const given = ctx.get('Content-Type')
    const instead = given ? `, not ${given}` : ''
    throw new ApiError(
      'unsupported_media_type',
      `The body must be JSON, with Content-Type: application/json${instead}.`,
    )
  }
  // koa-body continues only after the body was read, so its depth is checked before any other code sees it.
  await parse(ctx, async () => {
    checkValue(ctx.request.body, '', 0)
    await next()
  })
}

const toApiError = (error: Error & { status?: number; type?: string }): ApiError => {
  if (error.status === 413) return new ApiError('payload_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`)
  if (error.status === 415) return new ApiError('unsupported_media_type', 'The encoding of the body is not supported.')
  // The parser accepts nothing but objects and arrays.
  if (error instanceof SyntaxError && /^invalid JSON, only supports/.test(error.message))
    return invalid('', 'The body must be a JSON object.', 'must be an object')
  if (error instanceof SyntaxError)
    return invalid('', `The body is not valid JSON: ${error.message}.`, 'is not valid JSON')
  return invalid('', `The body cannot be read: ${error.message}.`, 'cannot be read')
}

/**
 * Checks what a schema cannot: the depth, and the values without a canonical form, which are infinite numbers and lone
 * surrogates.
 */
const checkValue = (value: unknown, path: string, depth: number): void => {
  if (typeof value === 'string') checkText(value, path)
  else if (typeof value === 'number' && !Number.isFinite(value))
    throw invalid(path, 'The number is too large.', 'is too large')
  else if (typeof value !== 'object' || value === null) return
  else if (depth === MAX_JSON_DEPTH) throw invalid(path, TOO_DEEP, 'is nested too deeply')
  else if (Array.isArray(value))
    for (const [index, item] of value.entries()) checkValue(item, `${path}/${index}`, depth + 1)
  else
    for (const [name, item] of Object.entries(value)) {
      checkText(name, path)
      checkValue(item, `${path}/${toPointerPart(name)}`, depth + 1)
    }
}

const checkText = (text: string, path: string) => {
  if (!text.isWellFormed()) throw invalid(path, 'The string is not well-formed Unicode.', 'is not well-formed Unicode')
}

const TOO_DEEP = `The body is nested deeper than ${MAX_JSON_DEPTH} levels.`

const invalid = (path: string, message: string, fault: string) =>
  new ApiError('invalid_request', message, { errors: [{ path: path.slice(0, 200), message: fault }] })
