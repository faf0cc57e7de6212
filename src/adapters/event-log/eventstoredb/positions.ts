import type { Position } from '../../../../schemas/recorded.ts'

/** The server's way to say that it has no position to give, as it does in a checkpoint while nothing was found. */
export const NO_POSITION = String(2n ** 64n - 1n)

/**
 * A position of ours is twice the server's, which counts bytes. So there is a position before each event that is after
 * all others, and can be asked for: the server only reads from where an event begins.
 */
export const toPosition = (commit: string): Position => {
  const position = Number(commit) * 2
  if (!Number.isSafeInteger(position))
    throw new RangeError(`the log position ${commit} of EventStoreDB cannot be used; it must be below 2^52`)
  return position
}

/** The place of the first event that is not before a position, in the server's count. */
export const toCommit = (position: Position): string => String(Math.ceil(position / 2))
