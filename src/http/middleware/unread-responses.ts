import { Stream } from 'node:stream'
import type { Next } from 'koa'
import { type AccountId, type AuditorId, MAX_UNREAD_BYTES } from '../../../schemas/primitives.ts'
import { OpenCounts } from '../../flow/open-counts.ts'
import { ApiError } from '../../transports/api-error.ts'
import { type Context, isRead, type Middleware } from '../context.ts'

/**
 * Limits the unread JSON responses of each auditor and of the clients of each account, because they are in memory
 * until they are read. Runs after authentication.
 */
export const unreadResponses = (): Middleware => {
  const unread = new OpenCounts<AccountId | AuditorId>(MAX_UNREAD_BYTES)
  return async (ctx: Context, next: Next) => {
    const { caller, auditor } = ctx.state
    const owner = auditor?.auditorId ?? caller.accountId
    if (unread.isFull(owner)) throw tooMany()
    ctx.state.countAnswer = bytes => {
      // A write has happened already, and only its answer says so.
      if (!unread.add(owner, ctx.res, bytes) && isRead(ctx)) throw tooMany()
    }
    await next()
    if (!isJson(ctx.body)) return
    // Node.js sends a text together with the headers, in one write.
    const text = JSON.stringify(ctx.body)
    ctx.state.countAnswer(Buffer.byteLength(text))
    ctx.body = text
  }
}

/** Other bodies are files, or static bodies that all requests share. */
const isJson = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Buffer.isBuffer(body) && !(body instanceof Stream)

/** Limits the unread pages of each account in the same way. */
export const unreadPages = () => {
  const unread = new OpenCounts<AccountId>(MAX_UNREAD_BYTES)
  return {
    check(accountId: AccountId) {
      if (unread.isFull(accountId)) throw tooMany()
    },
    count({ body, res }: Context, accountId: AccountId) {
      // Others are files that are read as the client takes them.
      const isWhole = typeof body === 'string' || Buffer.isBuffer(body)
      if (isWhole) unread.add(accountId, res, Buffer.byteLength(body))
    },
  }
}

const tooMany = () =>
  new ApiError(
    'rate_limited',
    `The client has not taken answers of ${MAX_UNREAD_BYTES} bytes, which is the limit. Read them, or request fewer.`,
    {},
    { retryAfterSeconds: RETRY_SECONDS },
  )

/** By then, the clients have read the responses, or the connections were closed. */
const RETRY_SECONDS = 60
