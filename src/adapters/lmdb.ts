import { mkdirSync, statfsSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { Damaged, Unavailable } from '../ports/faults.ts'

/** Room that is kept free on the disk. LMDB maps its file into memory, where a full disk ends the process. */
const MIN_FREE_BYTES = 128 * 1024 * 1024

/** How long a look at the free room is good for: at most a second's writes can come between. */
const FREE_ROOM_CHECK_MS = 1000

export type { Database, RootDatabase }

/**
 * Opens, or creates, an LMDB environment in a folder. Several processes may have it open.
 * With `durable`, a commit resolves when it is on the disk; without, when it is visible, and the disk follows.
 * Throws Damaged when the folder holds something else, or a file that was cut off.
 */
export const openLmdb = (folder: string, { durable }: { durable: boolean }): RootDatabase => {
  createFolder(folder)
  let root: RootDatabase
  try {
    root = open({ path: folder, noSubdir: false, overlappingSync: !durable, maxDbs: 16 })
  } catch (error) {
    throw new Damaged(`${folder} does not hold a readable LMDB file (${messageOf(error)}); restore it from a backup`)
  }
  // A read beyond the end of a mapped file ends the process without a word, so it must not come to that.
  const { pageSize, lastPageNumber } = root.getStats() as { pageSize: number; lastPageNumber: number }
  const sizeBytes = statSync(join(folder, 'data.mdb')).size
  if (sizeBytes < (lastPageNumber + 1) * pageSize)
    throw new Damaged(`${folder}/data.mdb was cut off at ${sizeBytes} bytes; restore it from a backup`)
  return root
}

/** A guard that throws Unavailable while the disk of a folder is nearly full. */
export const freeRoomGuard = (folder: string): (() => void) => {
  let checkedAtMs = Number.NEGATIVE_INFINITY
  let freeBytes = 0
  return () => {
    if (performance.now() - checkedAtMs > FREE_ROOM_CHECK_MS) {
      const { bavail, bsize } = statfsSync(folder)
      freeBytes = bavail * bsize
      checkedAtMs = performance.now()
    }
    if (freeBytes < MIN_FREE_BYTES)
      throw new Unavailable(`the disk of ${folder} has ${freeBytes} bytes left, and ${MIN_FREE_BYTES} are kept free`)
  }
}

const createFolder = (folder: string) => {
  const probe = join(folder, `.writable-${process.pid}`)
  try {
    mkdirSync(folder, { recursive: true })
    writeFileSync(probe, '')
    unlinkSync(probe)
  } catch (error) {
    throw new Unavailable(`${folder} cannot be written (${messageOf(error)})`)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
