import type { Next } from 'koa'
import type { Clock } from '../../ports/clock.ts'
import { type KeyHolders, useRefusal } from '../../services/accounts/key-holders.ts'
import type { KeyUses } from '../../services/accounts/key-uses.ts'
import type { AuditorKeys } from '../../services/auditors/auditor-keys.ts'
import { isAuditorKey } from '../../services/auditors/auditors.ts'
import { ApiError } from '../../transports/api-error.ts'
import { errorOf, unwrap } from '../../transports/refusals.ts'
import type { ClientAddress } from '../connections/client-address.ts'
import type { Context } from '../context.ts'

/** No key is longer, not even with the longest prefix. Longer text is not hashed. */
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
    const text = bearerKey(ctx)
    if (text === undefined) {
      const remedy = `Sign in at ${publicUrl()}/console to create one.`
      throw ctx.get('Authorization') === '' ? keyMissing(remedy) : keyMissing(NOT_WHOLE, remedy)
    }
    const found = await keyHolders.holderOf(text)
    if (!found) throw keyUnknown()
    const { holder, key } = unwrap(found)
    const refusal = useRefusal(key, clientAddress(ctx.req), clock.nowMs())
    if (refusal) throw errorOf(refusal)
    const { requestId, record } = ctx.state
    const caller = { ...holder, requestId, record }
    ctx.state.caller = caller
    await next()
    if (ctx.status < 400) keyUses.note(caller)
  }

/** The key of a request; undefined if the request has none or a malformed one. */
const bearerKey = (ctx: Context): string | undefined => BEARER.exec(ctx.get('Authorization'))?.[1]

const keyMissing = (...remedy: string[]) =>
  new ApiError(
    'invalid_api_key',
    ['An API key is required in the header "Authorization: Bearer <key>".', ...remedy].join(' '),
  )

/** Pages show keys with an ellipsis, which is easily copied. */
const NOT_WHOLE = 'The header that arrived holds no whole key.'

const keyUnknown = () => new ApiError('invalid_api_key', 'This API key is unknown or was revoked.')

/** The paths for auditors. */
const AUDIT_PATH = '/v1/audit/'

/** Sets the auditor from the request's key. The keys of accounts are refused here, even with the scope `full`. */
export const authenticateAuditor =
  (auditorKeys: Pick<AuditorKeys, 'holderOf'>, keyHolders: Pick<KeyHolders, 'holderOf'>) =>
  async (ctx: Context, next: Next) => {
    const key = bearerKey(ctx)
    if (key === undefined) throw keyMissing()
    if (!isAuditorKey(key)) {
      const customer = await keyHolders.holderOf(key)
      if (!customer) throw keyUnknown()
      unwrap(customer)
      throw onlyAuditors()
    }
    const holder = await auditorKeys.holderOf(key)
    if (!holder) throw keyUnknown()
    ctx.state.auditor = { kind: 'auditor', ...holder, requestId: ctx.state.requestId }
    return next()
  }

/** Refuses auditors everywhere else, also where no key is needed. An unknown or revoked key is not an auditor's. */
export const refuseAuditors = (auditorKeys: Pick<AuditorKeys, 'knows'>) => async (ctx: Context, next: Next) => {
  const key = bearerKey(ctx)
  const isElsewhere = key !== undefined && isAuditorKey(key) && !ctx.path.startsWith(AUDIT_PATH)
  if (isElsewhere && (await auditorKeys.knows(key))) throw onlyAudit()
  return next()
}

const onlyAuditors = () =>
  new ApiError('forbidden', 'Only the keys of auditors may read this. The operator of the service creates them.')

const onlyAudit = () =>
  new ApiError('forbidden', `This is the key of an auditor, which may only read what is under ${AUDIT_PATH}.`)
