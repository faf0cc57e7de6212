import type { Position } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST, NO_STREAM } from '../../ports/event-log.ts'

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
