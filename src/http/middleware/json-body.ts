import type { Next } from 'koa'
import { koaBody } from 'koa-body'
import { ApiError } from '../api-error.ts'
import { NotJson, parseBounded } from '../bounded-json.ts'
import type { Context } from '../context.ts'

/**
 * Reads a JSON body of at most so many bytes into `ctx.request.body`. Refuses bodies that are not JSON, too large, too
 * deep or not well-formed Unicode.
 */
export const jsonBody = (maxBytes: number) => {
  // As text, because koa-body would parse whatever the body holds.
  const read = koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    textTypes: ['json'],
    textLimit: maxBytes,
    onError: error => {
      throw toApiError(error, maxBytes)
    },
  })
  return async (ctx: Context, next: Next) => {
    if (ctx.is('json') === null) throw missing()
    if (!ctx.is('json')) throw notJson(ctx.get('Content-Type'))
    await read(ctx, async () => undefined)
    const text = ctx.request.body as string
    if (text === '') throw missing()
    Object.assign(ctx.request, { body: parseBounded(text) })
    return next()
  }
}

const toApiError = (error: Error & { status?: number }, maxBytes: number): ApiError => {
  if (error.status === 413) return new ApiError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
  if (error.status === 415) return new ApiError('unsupported_media_type', 'The encoding of the body is not supported.')
  return new NotJson(`The body cannot be read: ${error.message}.`, 'cannot be read')
}

const missing = () => new NotJson('The body is missing; it must be JSON.', 'is required')

const notJson = (given: string) => {
  const instead = given ? `, not ${given}` : ''
  return new ApiError('unsupported_media_type', `The body must be JSON, with Content-Type: application/json${instead}.`)
}
