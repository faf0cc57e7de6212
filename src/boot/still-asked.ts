import { setImmediate as nextTurn } from 'node:timers/promises'

/** Between two pages, a child process notices that nobody waits for it any more. */
export const stillAsked = async () => {
  await nextTurn()
  if (!process.connected) throw new Error('the parent has hung up')
}
