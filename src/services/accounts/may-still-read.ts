import { type AccountCaller, keyIdOf } from '../caller.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

/** Whether the account of a long request is not suspended, and its key still active. */
export const mayStillRead = async (accounts: AccountMailboxes, caller: AccountCaller): Promise<boolean> => {
  const keyId = keyIdOf(caller)
  const { suspension, activeKeys } = await accounts.recentState(caller.accountId)
  return !suspension && (!keyId || activeKeys.has(keyId))
}
