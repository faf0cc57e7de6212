import type { Next } from 'koa'
import { koaBody } from 'koa-body'
import { MAX_BODY_BYTES } from '../../../schemas/primitives.ts'
import { timed } from '../../services/request-record.ts'
import { attachmentsIn, NO_ATTACHMENTS } from '../../services/runs/attachments.ts'
import { ApiError } from '../../transports/api-error.ts'
import { readAttached } from '../bodies/attachments.ts'
import { boundedJson, type JsonLimits, NotJson } from '../bodies/bounded-json.ts'
import { bodyText, checkCharset } from '../bodies/utf8.ts'
import type { Context } from '../context.ts'
import { hasDeclaredSize } from './arriving-bodies.ts'

const time = { monotonicMs: () => performance.now() }

/** How long a body may take to arrive in full. */
const ARRIVAL_MS = 30_000

/** A shorter body holds no file that is worth the work. */
const MIN_ATTACHED_BYTES = 64 * 1024

interface Options {
  arrivalMs?: number
  limits?: JsonLimits
  /** Whether large files are decoded while they arrive. */
  attaches?: boolean
}

/**
 * Reads a JSON body into `ctx.request.body`. Refuses bodies that are not JSON in UTF-8, too large, too slow, too deep
 * or not well-formed Unicode.
 */
export const jsonBody = (maxBytes: number, { arrivalMs = ARRIVAL_MS, limits, attaches }: Options = {}) => {
  const read = reader(maxBytes)
  const readUndeclared = reader(Math.min(maxBytes, MAX_BODY_BYTES))
  return async (ctx: Context, next: Next) => {
    if (ctx.is('json') === null) throw missing()
    if (!ctx.is('json')) throw notJson(ctx.get('Content-Type'))
    checkCharset(ctx)
    const { length = 0 } = ctx.request
    const isAttached = attaches && hasDeclaredSize(ctx) && length >= MIN_ATTACHED_BYTES && length <= maxBytes
    const reading = isAttached
      ? readAttachments(ctx)
      : (hasDeclaredSize(ctx) ? read : readUndeclared)(ctx, async () => undefined)
    await arrivesInTime(ctx, reading, arrivalMs)
    // Many bodies may have arrived at once.
    await ctx.state.nextTurn()
    if (ctx.res.destroyed) throw gone()
    const text = bodyText(ctx)
    if (text === undefined) throw new NotJson('The body is not in UTF-8.', 'is not in UTF-8')
    if (text === '') throw missing()
    // Each step with a long body takes a twentieth of a second.
    const pause = async () => (text.length > MAX_BODY_BYTES ? ctx.state.nextTurn() : undefined)
    await pause()
    const parse = boundedJson(text, '', limits)
    await pause()
    const body = parse()
    Object.assign(ctx.request, { body })
    const { attachments = NO_ATTACHMENTS } = ctx.state
    if (attachments.size > 0) ctx.state.attachments = attachmentsIn(body, attachments)
    await pause()
    ctx.state.bodyIsRead?.()
    return next()
  }
}

const readAttachments = async ({ req, request, state }: Context) => {
  const { document, attachments } = await readAttached(req).catch(error => {
    throw error instanceof ApiError ? error : unreadable(error)
  })
  Object.assign(request, { body: document })
  state.attachments = attachments
}

/** Reads bytes, because koa-body would parse any body, and replace bytes that are not UTF-8. */
const reader = (maxBytes: number) =>
  koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    textTypes: ['json'],
    textLimit: maxBytes,
    encoding: '',
    onError: error => {
      throw toApiError(error, maxBytes)
    },
  })

/** Waits for a body, but not for a late or interrupted one. The answer to a late body ends the connection. */
export const arrivesInTime = async (ctx: Context, arrived: Promise<unknown>, arrivalMs = ARRIVAL_MS) => {
  let timer: NodeJS.Timeout | undefined
  const lost = new Promise((_, reject) => {
    timer = setTimeout(() => {
      ctx.set('Connection', 'close')
      reject(new NotJson(`The body did not arrive in full within ${arrivalMs / 1000} seconds.`, 'is incomplete'))
    }, arrivalMs)
    // Decompression would wait for the missing bytes.
    ctx.req.once('error', error => reject(unreadable(error)))
  })
  const ended = Promise.race([arrived, lost]).finally(() => clearTimeout(timer))
  await timed(ctx.state.record, 'bodyMs', time, ended)
}

const toApiError = (error: Error & { status?: number }, maxBytes: number): ApiError => {
  if (error.status === 413) return new ApiError('payload_too_large', `The body is larger than ${maxBytes} bytes.`)
  if (error.status === 415) return new ApiError('unsupported_media_type', 'The encoding of the body is not supported.')
  return unreadable(error)
}

const unreadable = ({ message }: Error) => new NotJson(`The body cannot be read: ${message}.`, 'cannot be read')

const gone = () => new NotJson('The client did not wait for an answer.', 'was not read')

const missing = () => new NotJson('The body is missing; it must be JSON.', 'is required')

const notJson = (given: string) => {
  const instead = given ? `, not ${given}` : ''
  return new ApiError('unsupported_media_type', `The body must be JSON, with Content-Type: application/json${instead}.`)
}
