import { statfsSync } from 'node:fs'
import { Unavailable } from '../ports/faults.ts'
import { ensureWritable } from './lmdb/file.ts'

/** Free space that is reserved for the log: LMDB may end the process if the disk is full. */
export const LOG_RESERVE_BYTES = 128 * 1024 * 1024

/** The views are written with less, so that they still show all that is in the log. */
export const VIEW_RESERVE_BYTES = LOG_RESERVE_BYTES / 2

/** With less free space, no files are stored, so that files never use the space of the log. */
export const FILE_RESERVE_BYTES = 2 * LOG_RESERVE_BYTES

/** How often the disk is checked. A second's writes fit into either reserve. */
const CHECK_MS = 1000

/**
 * Returns a guard that returns the free space of the folder's disk. It throws Unavailable while there is less than
 * `minBytes`, or the folder cannot be written.
 */
export const freeSpaceGuard = (folder: string, minBytes: number): (() => number) => {
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let check: { freeBytes: number } | { error: unknown }
  return () => {
    if (performance.now() - checkedAtMs > CHECK_MS) {
      check = checkDisk(folder, minBytes)
      checkedAtMs = performance.now()
    }
    if ('error' in check) throw check.error
    return check.freeBytes
  }
}

export const megabytes = (bytes: number): string => `${Math.floor(bytes / 2 ** 20).toLocaleString('en')} MB`

const checkDisk = (folder: string, minBytes: number) => {
  try {
    const { bavail, bsize } = statfsSync(folder)
    const freeBytes = bavail * bsize
    if (freeBytes < minBytes)
      throw new Unavailable(
        `the disk of ${folder} has ${megabytes(freeBytes)} free; ${megabytes(minBytes)} are required`,
        { part: 'disk' },
      )
    ensureWritable(folder)
    return { freeBytes }
  } catch (error) {
    return { error }
  }
}
