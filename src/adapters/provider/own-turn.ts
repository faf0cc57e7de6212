import { setImmediate as nextTurn } from 'node:timers/promises'

let turns = Promise.resolve()

/** Resolves in a turn of the event loop that belongs to nobody else: many files at once hold it no longer than one. */
export const ownTurn = (): Promise<void> => {
  turns = turns.then(() => nextTurn())
  return turns
}
