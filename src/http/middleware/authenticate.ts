import type { Next } from 'koa'
import type { Keys } from '../../services/accounts/keys.ts'
import { ApiError } from '../../services/api-error.ts'
import type { Context } from '../context.ts'

/** Longer than any key of ours, whatever the prefix; what is longer is not even hashed. */
const BEARER = /^Bearer ([!-~]{1,128})$/i

/** Finds the account whose key the request carries. Keys are known by their hash alone. */
export const authenticate = (keys: Keys) => async (ctx: Context, next: Next) => {
  const key = BEARER.exec(ctx.get('Authorization'))?.[1]
  if (key === undefined)
    throw new ApiError('invalid_api_key', 'An API key is needed, as the header "Authorization: Bearer <key>".')
  const holder = await keys.holderOf(key)
  if (!holder) throw new ApiError('invalid_api_key', 'This API key is not known or was revoked.')
  ctx.state.account = holder
  return next()
}
