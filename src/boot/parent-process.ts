import { setImmediate as nextTurn } from 'node:timers/promises'

/** Throws once the parent has ended, so that a child process does not work on for nobody. Call it between pages. */
export const ensureParent = async () => {
  await nextTurn()
  if (!process.connected) throw new Error('the parent process has ended')
}
