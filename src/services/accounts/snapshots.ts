import { Map as ImmutableMap, OrderedMap } from 'immutable'
import type { AccountState } from '../../domain/account/state.ts'
import type { Folded } from '../../engine/streams/folded.ts'
import type { Snapshots, Snapshotted } from '../../engine/streams/snapshots.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Snapshot, ViewStore } from '../../ports/view-store.ts'

/** Raised whenever the form below changes, or `evolve` folds the same events into another state. */
const VERSION = 3

/** A tail of so many events is read in a few milliseconds, so a snapshot any sooner would not pay. */
const MIN_TAIL = 1000

/** Keeps snapshots of accounts among the views. */
export const accountSnapshots = (store: ViewStore): Snapshots<AccountState> => ({
  load: async stream => {
    // Without the views the whole stream is read, which takes longer and gives the same.
    const snapshot = await store.loadSnapshot(stream).catch(unlessUnavailable)
    return snapshot?.version === VERSION ? thaw(snapshot) : undefined
  },
  offer: async (stream, folded, lastRevision) => {
    const tail = folded.revision - lastRevision
    // A snapshot is as large as what it holds, so a large one comes more seldom and costs the same for each event.
    const { requests, uploads } = folded.state
    if (tail < MIN_TAIL || tail < requests.size + uploads.size) return false
    await store.saveSnapshot(stream, freeze(folded))
    return true
  },
})

const unlessUnavailable = (error: unknown) => {
  if (!(error instanceof Unavailable)) throw error
  return undefined
}

const freeze = ({ revision, hash, state }: Folded<AccountState>): Snapshot => ({
  version: VERSION,
  revision,
  hash,
  state: {
    ...state,
    activeKeys: [...state.activeKeys],
    openRuns: [...state.openRuns],
    deliveries: [...state.deliveries],
    uploads: [...state.uploads],
    requests: [...state.requests],
  },
})

const thaw = ({ revision, hash, state }: Snapshot): Snapshotted<AccountState> => {
  const frozen = state as FrozenAccount
  return {
    revision,
    hash,
    state: {
      ...frozen,
      activeKeys: ImmutableMap(frozen.activeKeys),
      openRuns: ImmutableMap(frozen.openRuns),
      deliveries: ImmutableMap(frozen.deliveries),
      uploads: ImmutableMap(frozen.uploads),
      requests: OrderedMap(frozen.requests),
    },
  }
}

type FrozenAccount = {
  [Field in keyof AccountState]: AccountState[Field] extends ImmutableMap<infer Key, infer Value>
    ? [Key, Value][]
    : AccountState[Field]
}
