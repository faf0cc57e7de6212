import { isExpired } from '../../domain/account/keys.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

interface Parts {
  accounts: AccountMailboxes
  clock: Clock
}

/** Whether the account of a long request is not suspended, and its key still active. */
export const mayStillRead = async ({ accounts, clock }: Parts, caller: AccountCaller): Promise<boolean> => {
  const keyId = keyIdOf(caller)
  const { suspension, activeKeys } = await accounts.recentState(caller.accountId)
  if (suspension || !keyId) return !suspension
  const key = activeKeys.get(keyId)
  return key !== undefined && !isExpired(key, clock.nowMs())
}
