import type { Next } from 'koa'
import type { Clock } from '../../ports/clock.ts'
import { type KeyHolders, useRefusal } from '../../services/accounts/key-holders.ts'
import type { KeyUses } from '../../services/accounts/key-uses.ts'

import { ApiError } from '../../transports/api-error.ts'
import { errorOf, unwrap } from '../../transports/refusals.ts'
import type { ClientAddress } from '../connections/client-address.ts'
import type { Context } from '../context.ts'

/** Longer than any key, whatever its prefix. Longer ones are not even hashed. */
const BEARER = /^Bearer +([!-~]{1,128})$/i

interface Dependencies {
  keyHolders: Pick<KeyHolders, 'holderOf'>
  keyUses: Pick<KeyUses, 'note'>
  clientAddress: ClientAddress
  clock: Clock
  publicUrl: () => string
}

/** Sets the caller from the request's key. Only hashes of keys are stored. */
export const authenticate =
  ({ keyHolders, keyUses, clientAddress, clock, publicUrl }: Dependencies) =>
  async (ctx: Context, next: Next) => {
    const key = bearerKey(ctx)
    if (key === undefined) throw keyMissing(`Sign in at ${publicUrl()}/console to create one.`)
    const found = await keyHolders.holderOf(key)
    if (!found) throw keyUnknown()
    const holder = unwrap(found)
    const refusal = useRefusal(holder, clientAddress(ctx.req), clock.nowMs())
    if (refusal) throw errorOf(refusal)
    const { expiresAt: _, addresses: __, ...held } = holder
    const caller = { kind: 'key', ...held, requestId: ctx.state.requestId } as const
    ctx.state.caller = caller
    await next()
    if (ctx.status < 400) keyUses.note(caller)
  }

/** The key of a request; undefined if it has none, or something that cannot be one. */
export const bearerKey = (ctx: Context): string | undefined => BEARER.exec(ctx.get('Authorization'))?.[1]

export const keyMissing = (...remedy: string[]) =>
  new ApiError(
    'invalid_api_key',
    ['An API key is required in the header "Authorization: Bearer <key>".', ...remedy].join(' '),
  )

export const keyUnknown = () => new ApiError('invalid_api_key', 'This API key is unknown or was revoked.')
