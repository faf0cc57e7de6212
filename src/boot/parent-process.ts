import { setImmediate as nextTurn } from 'node:timers/promises'

/** Throws once the parent has ended, so that a child process does not outlive it. Call it between pages. */
export const ensureParent = async () => {
  await nextTurn()
  if (!process.connected) throw new Error('the parent process has ended')
}
