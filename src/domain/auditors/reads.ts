import { Map as ImmutableMap } from 'immutable'
import type { AuditorRead, ReadEvent } from '../../../schemas/auditor-events.ts'
import type { AuditorId } from '../../../schemas/primitives.ts'
import { clockOf } from '../../../schemas/recorded.ts'
import { accept, type Decider } from '../decider.ts'
import { type Refusal, refuse } from '../refusal.ts'

/**
 * An auditor may read this often at once, and once more every READ_MS. This pace is enough to page through a ledger of
 * a million lines in two hours, and one key can add at most 100 MB a day to the log.
 */
export const MAX_READS_AT_ONCE = 120
export const READ_MS = 500

/** A clock that is further behind than this was reset, so its earlier counts are void. */
const CLOCK_TOLERANCE_MS = 60_000

/** The reads of each auditor that still count at `atMs`, in ms since 1970. */
export type ReadsState = ImmutableMap<AuditorId, { count: number; atMs: number }>

/** The state with these entries. */
export const readsStateOf = (entries: Iterable<[AuditorId, { count: number; atMs: number }]>): ReadsState =>
  ImmutableMap(entries)

/** Why an auditor may not read now; undefined if it may. */
export const readRefusal = (state: ReadsState, auditorId: AuditorId, atMs: number): { refuse: Refusal } | undefined => {
  const excess = countAt(state, auditorId, atMs) + 1 - MAX_READS_AT_ONCE
  return excess > 0 ? refuse('too_many_reads', { retryAfterMs: Math.ceil(excess * READ_MS) }) : undefined
}

/** What auditors have read. The state only knows how much each has read of late. */
export const reads: Decider<AuditorRead, ReadsState, ReadEvent, Refusal> = {
  initial: ImmutableMap(),
  decide: (read, state, atMs) =>
    readRefusal(state, read.auditorId, atMs) ?? accept([{ type: 'AuditorRead', data: read }]),
  evolve: (state, event) => {
    const { auditorId } = event.data
    const atMs = Date.parse(clockOf(event))
    return state.set(auditorId, { count: countAt(state, auditorId, atMs) + 1, atMs })
  },
}

const countAt = (state: ReadsState, auditorId: AuditorId, nowMs: number): number => {
  const { count, atMs } = state.get(auditorId) ?? { count: 0, atMs: nowMs }
  if (nowMs < atMs - CLOCK_TOLERANCE_MS) return 0
  return Math.max(0, count - Math.max(0, nowMs - atMs) / READ_MS)
}
