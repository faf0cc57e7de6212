import { requestPlaces } from '../../../projections/runs.ts'
import type { RunQueued } from '../../../schemas/account-events.ts'
import { decideRepeat } from '../../domain/account/runs.ts'
import { isForgetful } from '../../domain/account/state.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type AccountCaller, isSeenBy, modeOf } from '../caller.ts'
import type { Reads } from '../views/reads.ts'

export interface RepeatDependencies {
  accounts: AccountMailboxes
  reads: Reads
  clock: Clock
}

/**
 * What the account decides on a repeated request; undefined if its idempotency key was not used. Earlier requests are
 * in the account's state, and in the views if the state had to drop some early. `'log'` also finds the requests that
 * other processes have accepted. Rejects with Unavailable.
 */
export const findRepeat = async (
  { accounts, reads, clock }: RepeatDependencies,
  caller: AccountCaller,
  idempotency: NonNullable<RunQueued['idempotency']>,
  source: 'memory' | 'log' = 'memory',
): Promise<ReturnType<typeof decideRepeat>> => {
  const { accountId } = caller
  const mode = modeOf(caller)
  const request = { idempotency, ...mode }
  const state = await (source === 'log' ? accounts.currentState(accountId) : accounts.state(accountId))
  const nowMs = clock.nowMs()
  const repeated = decideRepeat(request, state, nowMs)
  if (repeated || !isForgetful(state, nowMs)) return repeated
  await reads.ownWrites(accountId)
  const { key } = idempotency
  const [entry] = await reads.list('runs', 'byRequest', {
    prefix: requestPlaces(accountId, key, mode),
    newestFirst: true,
    limit: 1,
  })
  if (entry?.row.accountId !== accountId || entry.row.request?.key !== key || !isSeenBy(caller, entry.row))
    return undefined
  const { runId, createdAt, request: earlier } = entry.row
  return decideRepeat(request, state, nowMs, { runId, requestHash: earlier.hash, atMs: Date.parse(createdAt) })
}
