import type { Next } from 'koa'
import type { KeyHolders } from '../../services/accounts/key-holders.ts'
import { ApiError } from '../api-error.ts'
import type { Context } from '../context.ts'
import { unwrap } from '../refusals.ts'

/** Longer than any key, whatever its prefix. Longer ones are not even hashed. */
const BEARER = /^Bearer ([!-~]{1,128})$/i

/** Sets the caller from the request's key. Only hashes of keys are stored. */
export const authenticate = (keyHolders: KeyHolders) => async (ctx: Context, next: Next) => {
  const key = bearerKey(ctx)
  if (key === undefined) throw keyMissing()
  const holder = await keyHolders.holderOf(key)
  if (!holder) throw keyUnknown()
  ctx.state.caller = { kind: 'key', ...unwrap(holder), requestId: ctx.state.requestId }
  return next()
}

/** The key of a request; undefined if it has none, or something that cannot be one. */
export const bearerKey = (ctx: Context): string | undefined => BEARER.exec(ctx.get('Authorization'))?.[1]

export const keyMissing = () =>
  new ApiError('invalid_api_key', 'An API key is required in the header "Authorization: Bearer <key>".')

export const keyUnknown = () => new ApiError('invalid_api_key', 'This API key is unknown or was revoked.')
