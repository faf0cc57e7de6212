import type { Position } from '../../../schemas/recorded.ts'

/** A stream folded up to a revision, with the chain's hash there. */
export interface Folded<State> {
  revision: number
  hash: string
  state: State
  /** The position of the last event, or BEFORE_FIRST. */
  position: Position
}
