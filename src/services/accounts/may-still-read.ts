import { sessionRefusal } from '../../domain/account/access.ts'
import { isExpired } from '../../domain/account/keys.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountCaller } from '../caller.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

interface Dependencies {
  accounts: AccountMailboxes
  clock: Clock
}

/** Whether the account of a long request is not suspended, and its key still active or its session open. */
export const mayStillRead = async ({ accounts, clock }: Dependencies, caller: AccountCaller): Promise<boolean> => {
  if (caller.kind === 'operator') return true
  const state = await accounts.recentState(caller.accountId)
  const atMs = clock.nowMs()
  if (state.suspension) return false
  if (caller.kind === 'session') return !sessionRefusal(caller.sessionId, state, atMs)
  const key = state.activeKeys.get(caller.keyId)
  return key !== undefined && !isExpired(key, atMs)
}
