import { Map as ImmutableMap, OrderedMap } from 'immutable'
import type { AccountState } from '../../domain/account/state.ts'
import type { SnapshotForm } from '../../engine/streams/snapshots.ts'

/** A tail of this many events is read in a few milliseconds, so an earlier snapshot would not be worth its cost. */
const MIN_TAIL = 1000

/** Converts the state of an account to a snapshot and back. */
export const accountSnapshots: SnapshotForm<AccountState> = {
  version: 19,
  // A snapshot is as large as its contents, so large ones are written less often and the cost per event stays the same.
  worthAfter: ({ requests, uploads }) => Math.max(MIN_TAIL, requests.size + uploads.size),
  freeze: state => ({
    ...state,
    sessions: [...state.sessions],
    activeKeys: [...state.activeKeys],
    openRuns: [...state.openRuns],
    openRunsOf: [...state.openRunsOf],
    deliveries: [...state.deliveries],
    noticeDeliveries: [...state.noticeDeliveries],
    retirementsTold: [...state.retirementsTold],
    uploads: [...state.uploads],
    requests: [...state.requests],
    references: [...state.references],
  }),
  thaw: frozen => {
    const state = frozen as FrozenAccount
    return {
      ...state,
      // JSON has no undefined.
      suspension: state.suspension,
      sessions: OrderedMap(state.sessions),
      activeKeys: ImmutableMap(state.activeKeys),
      openRuns: ImmutableMap(state.openRuns),
      openRunsOf: ImmutableMap(state.openRunsOf),
      deliveries: ImmutableMap(state.deliveries),
      noticeDeliveries: ImmutableMap(state.noticeDeliveries),
      retirementsTold: ImmutableMap(state.retirementsTold),
      uploads: ImmutableMap(state.uploads),
      requests: OrderedMap(state.requests),
      references: ImmutableMap(state.references),
    }
  },
}

type FrozenAccount = {
  [Field in keyof AccountState]: AccountState[Field] extends Iterable<infer Entry extends [unknown, unknown]>
    ? Entry[]
    : AccountState[Field]
}
