import type { Position } from '../../../../schemas/recorded.ts'

/** The server sends this for "no position", as in a checkpoint before it found anything. */
export const NO_POSITION = String(2n ** 64n - 1n)

/**
 * Our positions are twice the server's, which count bytes. So there is a valid position just before each event and
 * after all earlier ones. The server itself can only read from the start of an event.
 */
export const toPosition = (commit: string): Position => {
  const position = Number(commit) * 2
  if (!Number.isSafeInteger(position))
    throw new RangeError(`the log position ${commit} of EventStoreDB cannot be used; it must be below 2^52`)
  return position
}

/** The server's position of the first event at or after a position. */
export const toCommit = (position: Position): string => String(Math.ceil(position / 2))
