import { setImmediate as nextTurn } from 'node:timers/promises'

let turns = Promise.resolve()

/** Resolves in a new turn of the event loop: many files at once then hold it no longer than one file. */
export const ownTurn = (): Promise<void> => {
  turns = turns.then(() => nextTurn())
  return turns
}
