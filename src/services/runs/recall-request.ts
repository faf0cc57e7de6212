import { requestPlaces } from '../../../projections/runs.ts'
import { requestNameOf } from '../../../schemas/account-events.ts'
import { recall } from '../../domain/account/runs.ts'
import { isForgetful, type RememberedRequest } from '../../domain/account/state.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type AccountCaller, isSeenBy, modeOf } from '../caller.ts'
import type { Reads } from '../views/reads.ts'

export interface RecallDependencies {
  accounts: AccountMailboxes
  reads: Reads
  clock: Clock
}

/**
 * The request that a caller's account made in its mode under an idempotency key; undefined if there is none or it has
 * expired. It is looked up in the account's state, and in the views if the state had to drop some early. `'log'` also
 * finds what other processes have accepted. Rejects with Unavailable.
 */
export const recallRequest = async (
  { accounts, reads, clock }: RecallDependencies,
  caller: AccountCaller,
  key: string,
  source: 'memory' | 'log' = 'memory',
): Promise<RememberedRequest | undefined> => {
  const { accountId } = caller
  const mode = modeOf(caller)
  const name = requestNameOf(key, mode)
  const state = await (source === 'log' ? accounts.currentState(accountId) : accounts.state(accountId))
  const nowMs = clock.nowMs()
  const found = recall(name, nowMs, state)
  if (found || !isForgetful(state, nowMs)) return found
  await reads.ownWrites(accountId)
  const [entry] = await reads.list('runs', 'byRequest', {
    prefix: requestPlaces(accountId, key, mode),
    newestFirst: true,
    limit: 1,
  })
  if (entry?.row.accountId !== accountId || entry.row.request?.key !== key || !isSeenBy(caller, entry.row))
    return undefined
  const { runId, createdAt, request } = entry.row
  return recall(name, nowMs, state, { runId, requestHash: request.hash, atMs: Date.parse(createdAt) })
}
