import { requestPlaces } from '../../../projections/runs.ts'
import type { RunQueued } from '../../../schemas/account-events.ts'
import type { RunRow } from '../../../schemas/views.ts'
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

/** More equal requests than a client has in progress. */
const MAX_EQUAL = 100

/**
 * The idempotency key that begins with `prefix` and whose run a repeated request may still return: it was accepted or
 * ended in the last `keptMs`, and neither failed nor was cut off. `except` has the keys that are no answer.
 */
export const findRequest = async (
  { reads, clock }: Pick<RepeatDependencies, 'reads' | 'clock'>,
  caller: AccountCaller,
  prefix: string,
  keptMs: number,
  except: ReadonlySet<string>,
): Promise<string | undefined> => {
  const { accountId } = caller
  // Without the slash that ends a whole key.
  const places = requestPlaces(accountId, prefix, modeOf(caller)).slice(0, -1)
  const entries = await reads.list('runs', 'byRequest', { prefix: places, limit: MAX_EQUAL })
  const sinceMs = clock.nowMs() - keptMs
  const mayRepeat = ({ accountId: owner, status, finishReason, createdAt, completedAt = createdAt }: RunRow) =>
    owner === accountId &&
    status !== 'failed' &&
    finishReason !== 'cancelled' &&
    (status !== 'completed' || Date.parse(completedAt) >= sinceMs)
  const kept = entries.flatMap(({ row }) => (mayRepeat(row) && row.request ? [row.request.key] : []))
  return kept.find(key => key.startsWith(prefix) && !except.has(key))
}
