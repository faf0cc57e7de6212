import type { Next } from 'koa'
import type { KeyHolders } from '../../services/accounts/key-holders.ts'
import type { AuditorKeys } from '../../services/auditors/auditor-keys.ts'
import { isAuditorKey } from '../../services/auditors/auditors.ts'
import { ApiError } from '../../transports/api-error.ts'
import { unwrap } from '../../transports/refusals.ts'
import type { Context } from '../context.ts'
import { bearerKey, keyMissing, keyUnknown } from './authenticate.ts'

/** Where auditors read. */
const AUDIT_PATH = '/v1/audit/'

/** Sets the auditor from the request's key. The keys of accounts are refused here, whatever their scope. */
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

/** Refuses auditors everywhere else, also where no key is needed. A key that is unknown or was revoked is none. */
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
