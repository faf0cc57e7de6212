import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Far longer than opening an environment takes. The lock of a killed process must not block others for long. */
const HOLD_MS = 1000

/** How long to wait between two looks at the lock, in milliseconds. */
const RETRY_MS = 1

/**
 * Runs work while no other process opens or closes the environment in a folder, and while no write begins. A process
 * that opens an environment sets the number of the newest transaction, which all processes share, to the number that it
 * read from the file earlier. Commits of others in between would be lost: the next transaction would build on the older
 * one and replace theirs. The last process that closes an environment destroys the mutexes, which a process that opens
 * it at that moment would continue to use.
 */
export const whileLocked = <Result>(folder: string, work: () => Result): Result => {
  const isHeld = hold(folder)
  try {
    return work()
  } finally {
    if (isHeld) rmSync(lockFile(folder), { force: true })
  }
}

/** Whether a process is opening or closing the environment in a folder. */
export const isLocked = (folder: string): boolean => {
  const stats = statSync(lockFile(folder), { throwIfNoEntry: false })
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) < HOLD_MS
}

/** Blocks the thread: the library opens environments synchronously. */
export const pause = (pauseMs: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs)

const lockFile = (folder: string) => join(folder, 'open.lock')

/** Takes the lock. Returns false if the folder is not writable: then LMDB cannot write its shared number either. */
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
