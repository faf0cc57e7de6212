import { isExpired } from '../../domain/account/keys.ts'
import type { Clock } from '../../ports/clock.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

interface Parts {
  accounts: AccountMailboxes
  clock: Clock
}

/** Whether the key of a long request is still active. */
export const mayStillRead = async ({ accounts, clock }: Parts, caller: AccountCaller): Promise<boolean> => {
  const keyId = keyIdOf(caller)
  if (!keyId) return true
  const key = (await accounts.recentState(caller.accountId)).activeKeys.get(keyId)
  return key !== undefined && !isExpired(key, clock.nowMs())
}
