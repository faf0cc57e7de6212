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

// What LMDB's file looks like (mdb.c: MDB_page, MDB_meta): two meta pages, each with a page's header, the magic number, and
// further on the root of the tree of databases and the number of the transaction that wrote it.
const PAGE_BYTES = 4096
const FLAGS_OFFSET = 18
const TREE_FLAGS = 0x03
const MAGIC_OFFSET = 24
const MAGIC = 0xbeefc0de
const ROOT_OFFSET = 136
const NO_ROOT = 2n ** 64n - 1n
const TRANSACTION_OFFSET = 152
const META_BYTES = 160

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
  ensureWritable(folder)
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
  while (existsSync(path) && !isLmdbFile(path)) {
    if (performance.now() > giveUpAtMs)
      throw new Damaged(`${path} is damaged or cut off: it is not an LMDB file; restore it from a backup`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RECHECK_MS)
  }
}

/** Whether both meta pages are there, and the newer one names a root that is a page of a tree. */
const isLmdbFile = (path: string): boolean => {
  const file = openSync(path, 'r')
  const read = (length: number, position: number): Buffer | undefined => {
    const bytes = Buffer.alloc(length)
    return readSync(file, bytes, 0, length, position) === length ? bytes : undefined
  }
  try {
    const metas = [0, PAGE_BYTES].map(position => read(META_BYTES, position))
    const [first, second] = metas
    if (!first || !second || metas.some(meta => meta?.readUInt32LE(MAGIC_OFFSET) !== MAGIC)) return false
    const newer =
      first.readBigUInt64LE(TRANSACTION_OFFSET) > second.readBigUInt64LE(TRANSACTION_OFFSET) ? first : second
    const root = newer.readBigUInt64LE(ROOT_OFFSET)
    if (root === NO_ROOT) return true
    const page = read(MAGIC_OFFSET, Number(root) * PAGE_BYTES)
    return page?.readBigUInt64LE(0) === root && (page.readUInt16LE(FLAGS_OFFSET) & TREE_FLAGS) !== 0
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

const ensureWritable = (folder: string) => {
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
