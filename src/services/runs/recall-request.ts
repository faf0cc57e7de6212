import { requestPlaces } from '../../../projections/runs.ts'
import type { AccountId } from '../../../schemas/primitives.ts'
import { recall } from '../../domain/account/runs.ts'
import type { RememberedRequest } from '../../domain/account/state.ts'
import type { Reads } from '../../engine/views/reads.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Accounts } from '../accounts/accounts.ts'

export interface RecallParts {
  accounts: Accounts
  reads: Reads
  clock: Clock
}

/**
 * The request that an account made under an idempotency key; undefined where there is none that still counts. It is looked for
 * in the account's state, and in the views where the state had to drop some before their time. `afresh` asks the log what
 * other processes have accepted. Rejects with Unavailable.
 */
export const recallRequest = async (
  { accounts, reads, clock }: RecallParts,
  accountId: AccountId,
  key: string,
  how?: 'afresh',
): Promise<RememberedRequest | undefined> => {
  const state = await (how === 'afresh' ? accounts.currentState(accountId) : accounts.state(accountId))
  const found = recall(key, clock.nowMs(), state)
  if (found || !state.forgetful) return found
  await reads.ownWrites(accountId)
  const [entry] = await reads.list('runs', 'byRequest', {
    prefix: requestPlaces(accountId, key),
    newestFirst: true,
    limit: 1,
  })
  if (!entry?.row.request) return undefined
  const { runId, createdAt, request } = entry.row
  return recall(key, clock.nowMs(), state, { runId, requestHash: request.hash, atMs: Date.parse(createdAt) })
}
