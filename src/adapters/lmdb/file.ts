import { closeSync, existsSync, openSync, readSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Damaged, Unavailable } from '../../ports/faults.ts'
import { makeFolder } from '../make-folder.ts'
import * as layout from './layout.ts'
import { pause, whileLocked } from './open-lock.ts'

/** How long another process may take to create the file, and how often to check. */
const CREATION_MS = 1000
const RECHECK_MS = 20

/** The file of an environment. */
export const lmdbFile = (folder: string): string => join(folder, 'data.mdb')

/** Identifies a file, even if another file takes its name later; undefined if there is no file. */
export const identityOf = (path: string): string | undefined => {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && `${stats.dev}:${stats.ino}`
}

/**
 * Deletes an environment, unless another file has replaced it. The lock goes first: its table of readers must never
 * serve another file, and a file without a lock is found damaged again.
 */
export const deleteLmdb = (folder: string, identity: string | undefined): void =>
  whileLocked(folder, () => {
    if (identityOf(lmdbFile(folder)) !== identity) return
    rmSync(join(folder, 'lock.mdb'), { force: true })
    rmSync(lmdbFile(folder), { force: true })
  })

/** The number of the newest transaction in the file of an environment, before it is opened. */
export const transactionInFile = (folder: string): number | undefined => {
  const path = lmdbFile(folder)
  const meta = existsSync(path) ? reading(path, newerMeta) : undefined
  return meta && layout.transactionOf(meta)
}

/**
 * Checks the two meta pages, because the library crashes the process silently on a file that is not LMDB's. Waits for
 * another process that is creating the file.
 */
export const checkMetaPages = (path: string) => {
  const deadlineMs = performance.now() + CREATION_MS
  while (existsSync(path) && !isLmdbFile(path)) {
    if (performance.now() > deadlineMs) throw new Damaged(`${path} is damaged or truncated: it is not an LMDB file`)
    pause(RECHECK_MS)
  }
}

/** Throws Damaged if the file lacks its end. A read past the end of a mapped file would crash the process silently. */
export const expectWhole = (path: string) => {
  const { sizeBytes, wholeBytes } = sizesOf(path)
  if (sizeBytes < wholeBytes) throw new Damaged(`${path} is truncated to ${sizeBytes} of ${wholeBytes} bytes`)
}

/**
 * Extends a file that lacks its end. An intact one can lack pages that one transaction allocated and freed. Real damage
 * is found when it is read, and the file can be rebuilt.
 */
export const extend = (path: string) => {
  const { sizeBytes, wholeBytes } = sizesOf(path)
  if (sizeBytes < wholeBytes) truncateSync(path, wholeBytes)
}

/** The size of a file, and of the pages that its meta page counts. A commit writes the meta page last. */
const sizesOf = (path: string) => {
  const meta = existsSync(path) ? reading(path, newerMeta) : undefined
  const wholeBytes = meta ? (Number(meta.readBigUInt64LE(layout.LAST_PAGE_OFFSET)) + 1) * layout.PAGE_BYTES : 0
  return { wholeBytes, sizeBytes: meta ? statSync(path).size : 0 }
}

/** Whether both meta pages exist, and the root of the newer one is a tree page. */
const isLmdbFile = (path: string): boolean =>
  reading(path, read => {
    const meta = newerMeta(read)
    if (!meta) return false
    const { root } = layout.readTree(meta, layout.MAIN_TREE_OFFSET)
    if (root === layout.NO_ROOT) return true
    const page = read(layout.HEADER_BYTES, Number(root) * layout.PAGE_BYTES)
    return page?.readBigUInt64LE(0) === root && (page.readUInt16LE(layout.FLAGS_OFFSET) & TREE_FLAGS) !== 0
  })

/** Reads bytes at a position of a file; undefined beyond its end. */
type Read = (length: number, position: number) => Buffer | undefined

const reading = <Result>(path: string, work: (read: Read) => Result): Result => {
  const file = openSync(path, 'r')
  try {
    return work((length, position) => {
      const bytes = Buffer.alloc(length)
      return readSync(file, bytes, 0, length, position) === length ? bytes : undefined
    })
  } finally {
    closeSync(file)
  }
}

/** The newer meta page; undefined if the file is not LMDB's. */
const newerMeta = (read: Read): Buffer | undefined => {
  const [first, second] = [0, layout.PAGE_BYTES].map(position => read(layout.META_BYTES, position))
  if (!first || !second) return undefined
  const isMeta = (page: Buffer) => page.readUInt32LE(layout.MAGIC_OFFSET) === layout.MAGIC
  return isMeta(first) && isMeta(second) ? layout.newerMeta(first, second) : undefined
}

const TREE_FLAGS = layout.BRANCH | layout.LEAF

/** Creates the folder. Throws Unavailable if it cannot be written. */
export const ensureWritable = (folder: string) => {
  const probe = join(folder, `.writable-${process.pid}`)
  try {
    makeFolder(folder)
    writeFileSync(probe, '')
    rmSync(probe, { force: true })
  } catch (error) {
    throw new Unavailable(`${folder} cannot be written (${(error as Error).message})`, { part: 'disk' })
  }
}
