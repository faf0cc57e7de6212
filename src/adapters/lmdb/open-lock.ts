import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Far longer than it takes to open an environment. The lock of a killed process must not stop the others for long. */
const HOLD_MS = 1000

/** How long to wait before looking at the lock again, in milliseconds. */
const RETRY_MS = 1

/**
 * Runs work while no other process opens or closes the environment in a folder, and while no write begins.
 *
 * LMDB makes a process that opens an environment set the number of the newest transaction, which all processes share,
 * to the one that it read from the file some time before. What others commit in between would be lost: the next
 * transaction would build on the older one, and take its place. A process that closes an environment as the last one
 * destroys the mutexes, which a process that opens it in this moment would go on to use.
 */
export const whileLocked = <Result>(folder: string, work: () => Result): Result => {
  const isHeld = hold(folder)
  try {
    return work()
  } finally {
    if (isHeld) rmSync(lockFile(folder), { force: true })
  }
}

/** Whether a process is about to open or close the environment in a folder. */
export const isLocked = (folder: string): boolean => {
  const stats = statSync(lockFile(folder), { throwIfNoEntry: false })
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < HOLD_MS
}

/** Blocks the thread: the library opens environments synchronously. */
export const pause = (pauseMs: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)

const lockFile = (folder: string) => join(folder, 'open.lock')

/** Takes the lock. False if the folder cannot be written to; LMDB then cannot write its shared number either. */
const hold = (folder: string): boolean => {
  while (true) {
    try {
      writeFileSync(lockFile(folder), '', { flag: 'wx' })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false
    }
    if (isLocked(folder)) pause(RETRY_MS)
    else rmSync(lockFile(folder), { force: true })
  }
}
