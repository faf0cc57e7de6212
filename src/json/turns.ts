import { setImmediate as nextTurn } from 'node:timers/promises'

let turns = Promise.resolve()

/**
 * Resolves in a new turn of the event loop. Calls get separate turns, so many files block the loop no longer than one.
 */
export const yieldToEventLoop = (): Promise<void> => {
  turns = turns.then(() => nextTurn())
  return turns
}
