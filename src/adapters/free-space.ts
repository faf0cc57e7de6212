import { statfsSync } from 'node:fs'
import { Unavailable } from '../ports/faults.ts'

/** Free space that is reserved for the log. The log is mapped into memory, and a full disk would kill the process. */
export const LOG_RESERVE_BYTES = 128 * 1024 * 1024

/** With less free space, no files are stored, so that files never use the space of the log. */
export const FILE_RESERVE_BYTES = 2 * LOG_RESERVE_BYTES

/** How often free space is checked. A second's writes fit into either reserve. */
const CHECK_MS = 1000

/**
 * Returns a guard that returns the free space of the folder's disk. It throws Unavailable while there is less than
 * `minBytes`.
 */
export const freeSpaceGuard = (folder: string, minBytes: number): (() => number) => {
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let freeBytes = 0
  return () => {
    if (performance.now() - checkedAtMs > CHECK_MS) {
      const { bavail, bsize } = statfsSync(folder)
      freeBytes = bavail * bsize
      checkedAtMs = performance.now()
    }
    if (freeBytes < minBytes)
      throw new Unavailable(`the disk of ${folder} has ${freeBytes} bytes free; ${minBytes} are required`, {
        part: 'disk',
      })
    return freeBytes
  }
}
