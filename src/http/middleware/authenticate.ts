import type { Next } from 'koa'
import type { KeyHolders } from '../../services/accounts/key-holders.ts'
import { ApiError } from '../api-error.ts'
import type { Context } from '../context.ts'

/** Longer than any key, whatever its prefix. Longer ones are not even hashed. */
const BEARER = /^Bearer ([!-~]{1,128})$/i

/** Sets the caller from the request's key. Only hashes of keys are stored. */
export const authenticate = (keyHolders: KeyHolders) => async (ctx: Context, next: Next) => {
  const key = BEARER.exec(ctx.get('Authorization'))?.[1]
  if (key === undefined)
    throw new ApiError('invalid_api_key', 'An API key is required in the header "Authorization: Bearer <key>".')
  const holder = await keyHolders.holderOf(key)
  if (!holder) throw new ApiError('invalid_api_key', 'This API key is unknown or was revoked.')
  ctx.state.caller = { kind: 'key', ...holder, requestId: ctx.state.requestId }
  return next()
}
