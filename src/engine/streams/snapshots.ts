import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Position } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Snapshot, ViewStore } from '../../ports/view-store.ts'
import { FORMAT } from '../log/hash-chain.ts'

/** A fold as a snapshot holds it. The log supplies the position of its last event. */
export type SnapshotContent<State> = Omit<Folded<State>, 'position'>

/** Keeps snapshots of streams. They change the cost of a load but never its result. */
export interface Snapshots<State> {
  load(stream: string): Promise<SnapshotContent<State> | undefined>
  /** Stores the state if the tail since the last snapshot is long. Resolves to whether it did. */
  offer(stream: string, folded: Folded<State>, lastRevision: number): Promise<boolean>
}

/** Converts a state to the JSON of a snapshot and back. */
export interface SnapshotForm<State> {
  /** Raised whenever the form changes, or `evolve` folds the same events into another state. */
  version: number
  freeze(state: State): object
  thaw(frozen: object): State
  /** The length of tail that makes a snapshot worth its cost. */
  worthAfter(state: State): number
}

interface SnapshotDependencies<State> {
  store: Pick<ViewStore, 'loadSnapshot' | 'saveSnapshot'>
  form: SnapshotForm<State>
  /** Authenticates snapshots, so that write access to the views cannot change a state. */
  key: Uint8Array
  onForged: (stream: string) => void
}

interface Body extends SnapshotContent<object> {
  version: string
  stream: string
}

/** Keeps snapshots in the view store. Snapshots without a valid MAC are ignored. */
export const createSnapshots = <State>({
  store,
  form,
  key,
  onForged,
}: SnapshotDependencies<State>): Snapshots<State> => {
  // A version that writes an older format must not go on from a snapshot of this one, since formats never fall.
  const version = `${form.version} in format ${FORMAT}`
  const macOf = (body: string) => createHmac('sha256', key).update(body).digest()

  /** The store may hold anything. */
  const isAuthentic = (snapshot: Snapshot | null) => {
    if (typeof snapshot?.mac !== 'string' || typeof snapshot.body !== 'string') return false
    const [mac, expected] = [Buffer.from(snapshot.mac, 'hex'), macOf(snapshot.body)]
    return mac.length === expected.length && timingSafeEqual(mac, expected)
  }

  return {
    load: async stream => {
      // Without the views the whole stream is read, which takes longer but gives the same state.
      const snapshot = await store.loadSnapshot(stream).catch(unlessUnavailable)
      if (snapshot === undefined) return undefined
      const body = isAuthentic(snapshot) ? (JSON.parse(snapshot.body) as Body) : undefined
      if (body?.stream !== stream) {
        onForged(stream)
        return undefined
      }
      const { revision, last, state } = body
      return body.version === version ? { revision, last, state: form.thaw(state) } : undefined
    },

    offer: async (stream, { revision, last, state }, lastRevision) => {
      if (revision - lastRevision < form.worthAfter(state)) return false
      const content: Body = { version, stream, revision, last, state: form.freeze(state) }
      const body = JSON.stringify(content)
      await store.saveSnapshot(stream, { body, mac: macOf(body).toString('hex') })
      return true
    },
  }
}

const unlessUnavailable = (error: unknown) => {
  if (!(error instanceof Unavailable)) throw error
  return undefined
}

/** A stream folded up to a revision. */
export interface Folded<State> {
  revision: number
  /** The hash, time and ledger format of the last event; undefined for an empty stream. */
  last: { hash: string; at: string; format: number } | undefined
  state: State
  /** The position of the last event, or BEFORE_FIRST. */
  position: Position
}

export const unfolded = <State>(initial: State): Folded<State> => ({
  revision: NO_STREAM,
  last: undefined,
  state: initial,
  position: BEFORE_FIRST,
})
