import { statfsSync } from 'node:fs'
import { Unavailable } from '../ports/faults.ts'

/** Free space that the log keeps on its disk. It is mapped into memory, where a full disk kills the process. */
export const LOG_RESERVE_BYTES = 128 * 1024 * 1024

/** With less free space, no files are stored, so that they cannot take the log's room. */
export const FILE_RESERVE_BYTES = 2 * LOG_RESERVE_BYTES

/** How often free space is checked. A second's writes fit into either reserve. */
const CHECK_MS = 1000

/** Returns a guard that throws Unavailable while the folder's disk has less free space, and else returns how much. */
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
      throw new Unavailable(`the disk of ${folder} has ${freeBytes} bytes free; ${minBytes} are required`)
    return freeBytes
  }
}
