import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  statfsSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { Damaged, Unavailable } from '../ports/faults.ts'

/** Room that is kept free on the disk. LMDB maps its file into memory, where a full disk ends the process. */
const MIN_FREE_BYTES = 128 * 1024 * 1024

/** How long a look at the free room is good for: at most a second's writes can come between. */
const FREE_ROOM_CHECK_MS = 1000

// Where LMDB writes the number by which it knows its files (mdb.c: MDB_MAGIC, behind the 24 bytes of a page's header).
const MAGIC = 0xbeefc0de
const MAGIC_OFFSET = 24
const META_BYTES = 28
const PAGE_BYTES = 4096

/** How long a file that is being created by another process may take, and how often it is looked at. */
const CREATION_MS = 1000
const RECHECK_MS = 20

export type { Database, RootDatabase }

/**
 * Opens, or creates, an LMDB environment in a folder. Several processes may have it open.
 * With `durable`, a commit resolves when it is on the disk; without, when it is visible, and the disk follows.
 * Throws Damaged when the folder holds something else, or a file that was cut off.
 */
export const openLmdb = (folder: string, { durable }: { durable: boolean }): RootDatabase => {
  createFolder(folder)
  checkMetaPages(join(folder, 'data.mdb'))
  let root: RootDatabase
  try {
    root = open({ path: folder, noSubdir: false, overlappingSync: !durable, maxDbs: 16, pageSize: PAGE_BYTES })
  } catch (error) {
    throw new Damaged(`${folder} does not hold a readable LMDB file (${messageOf(error)}); restore it from a backup`)
  }
  ensureWhole(root, join(folder, 'data.mdb'), durable)
  return root
}

/**
 * What is no LMDB file makes the library read where nothing is, which ends the process without a word. So the two pages
 * at the file's beginning are looked at first. Another process may be creating the file just now, and is waited for.
 */
const checkMetaPages = (path: string) => {
  const giveUpAtMs = performance.now() + CREATION_MS
  while (existsSync(path) && !hasMetaPages(path)) {
    if (performance.now() > giveUpAtMs)
      throw new Damaged(`${path} is damaged or cut off: it is not an LMDB file; restore it from a backup`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RECHECK_MS)
  }
}

const hasMetaPages = (path: string): boolean => {
  const file = openSync(path, 'r')
  try {
    const meta = Buffer.alloc(META_BYTES)
    return [0, PAGE_BYTES].every(
      position =>
        readSync(file, meta, 0, META_BYTES, position) === META_BYTES && meta.readUInt32LE(MAGIC_OFFSET) === MAGIC,
    )
  } finally {
    closeSync(file)
  }
}

/**
 * A read beyond the end of a mapped file ends the process without a word, so it must not come to that. Pages that were
 * freed in the transaction that took them may be missing at the end of a sound file; where losing the file costs
 * nothing it is made longer, and what is missing shows when it is read.
 */
const ensureWhole = (root: RootDatabase, path: string, durable: boolean) =>
  root.transactionSync(() => {
    const { pageSize, lastPageNumber } = root.getStats() as { pageSize: number; lastPageNumber: number }
    const wantedBytes = (lastPageNumber + 1) * pageSize
    const sizeBytes = statSync(path).size
    if (sizeBytes >= wantedBytes) return
    if (durable) throw new Damaged(`${path} was cut off at ${sizeBytes} bytes; restore it from a backup`)
    truncateSync(path, wantedBytes)
  })

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
