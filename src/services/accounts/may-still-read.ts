import { type AccountCaller, keyIdOf } from '../caller.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

/** Whether the key of a long request is still active. */
export const mayStillRead = async (accounts: AccountMailboxes, caller: AccountCaller): Promise<boolean> => {
  const keyId = keyIdOf(caller)
  return !keyId || (await accounts.recentState(caller.accountId)).activeKeys.has(keyId)
}
