import type { Folded } from './folded.ts'

/** A fold as a snapshot holds it. Where its last event lies is for the log to say. */
export type Snapshotted<State> = Omit<Folded<State>, 'position'>

/** Keeps snapshots of streams. They change what a load costs, and never what it gives. */
export interface Snapshots<State> {
  load(stream: string): Promise<Snapshotted<State> | undefined>
  /** Stores the state when the tail since the last snapshot has become long. */
  offer(stream: string, folded: Folded<State>, lastRevision: number): Promise<boolean>
}
