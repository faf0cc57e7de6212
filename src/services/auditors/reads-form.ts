import { type ReadsState, readsStateOf } from '../../domain/auditors/reads.ts'
import type { SnapshotForm } from '../../engine/streams/snapshots.ts'

/** A tail of this many events is read in a few milliseconds, so an earlier snapshot would not be worth its cost. */
const MIN_TAIL = 1000

/** Converts what is known of recent reads to a snapshot and back. It spares reading the record from its beginning. */
export const readsSnapshots: SnapshotForm<ReadsState> = {
  version: 1,
  worthAfter: () => MIN_TAIL,
  freeze: state => [...state],
  thaw: frozen => readsStateOf(frozen as Parameters<typeof readsStateOf>[0]),
}
