import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { type Database, open, type RootDatabase } from 'lmdb'
import { Damaged, Unavailable } from '../ports/faults.ts'

// The layout of LMDB's file (mdb.c: MDB_page, MDB_meta): it starts with two meta pages. Each has a page header, the
// magic number, the root of the tree of databases, and the number of the transaction that wrote it.
const PAGE_BYTES = 4096
const FLAGS_OFFSET = 18
const TREE_FLAGS = 0x03
const MAGIC_OFFSET = 24
const MAGIC = 0xbeefc0de
const ROOT_OFFSET = 136
const NO_ROOT = 2n ** 64n - 1n
const TRANSACTION_OFFSET = 152
const META_BYTES = 160

/** How long another process may take to create the file, and how often to check. */
const CREATION_MS = 1000
const RECHECK_MS = 20

export type { Database, RootDatabase }

/** An open environment, and the number of those who have it open. */
interface Environment {
  root: RootDatabase
  users: number
  /** Set if others in this process may share it. */
  file?: string
}

/**
 * The environments that this process writes to, by file. The library maps a file once for all who open it, but gives
 * each a queue of writes. One that opens it while another's transaction waits for its callback would wait for that
 * transaction, and the callback for the opening, for ever. So all share one queue.
 */
const environments = new Map<string, Environment>()

/** The databases that were opened through each root that is not closed yet. */
const shares = new WeakMap<RootDatabase, { environment: Environment; databases: Database[] }>()

/**
 * Opens or creates an LMDB environment in a folder, which several processes can share.
 * With `durable`, a commit resolves when it is on disk; otherwise when it is visible, and the disk follows.
 * Throws Damaged if the file is truncated or not an LMDB file.
 */
export const openLmdb = (folder: string, { durable }: { durable: boolean }): RootDatabase => {
  ensureWritable(folder)
  const path = join(folder, 'data.mdb')
  checkMetaPages(path)
  const known = existsSync(path) && environments.get(identityOf(path))
  if (known) return shareOf(known)
  const root = openFolder(folder, { overlappingSync: !durable })
  ensureWhole(root, path, durable)
  const environment = { root, file: identityOf(path), users: 0 }
  environments.set(environment.file, environment)
  return shareOf(environment)
}

const identityOf = (path: string): string => {
  const { dev, ino } = statSync(path)
  return `${dev}:${ino}`
}

const shareOf = (environment: Environment): RootDatabase => {
  const { root } = environment
  const databases: Database[] = []
  const openDB = (...database: Parameters<RootDatabase['openDB']>) => {
    const opened = root.openDB(...database)
    // A file that is only read may lack it.
    if (opened) databases.push(opened)
    return opened
  }
  const share: RootDatabase = Object.create(root, { openDB: { value: openDB } })
  shares.set(share, { environment, databases })
  environment.users += 1
  return share
}

/**
 * Opens an existing LMDB environment without writing to its file, while other processes may write to it. The folder may
 * lie on a read-only disk. Throws Unavailable if there is none, and Damaged if the file is not an LMDB file.
 */
export const openLmdbReadOnly = (folder: string): RootDatabase => {
  const path = join(folder, 'data.mdb')
  if (!existsSync(path)) throw new Unavailable(`${folder} holds no LMDB file`)
  checkMetaPages(path)
  return shareOf({ root: openFolder(folder, { readOnly: true }), users: 0 })
}

/** The methods that begin a read or a write, on which all others build. */
const METHODS = [
  'get',
  'getRange',
  'useReadTransaction',
  'put',
  'remove',
  'clearAsync',
  'transaction',
  'childTransaction',
]

/**
 * Closes an environment. Reads and writes then throw Unavailable: the library would start them while it still flushes
 * earlier writes, and throw from a timer afterwards, which ends the process.
 */
export const closeLmdb = async (root: RootDatabase): Promise<void> => {
  await root.flushed
  const share = shares.get(root)
  if (!share) return
  shares.delete(root)
  const { environment, databases } = share
  for (const database of [root, ...databases]) Object.assign(database, refusals)
  environment.users -= 1
  if (environment.users > 0) return
  if (environment.file !== undefined) environments.delete(environment.file)
  await environment.root.close()
}

const refuse = (): never => {
  throw new Unavailable('the database is closed')
}

const refusals = Object.fromEntries(METHODS.map(method => [method, refuse]))

const openFolder = (folder: string, options: { readOnly: true } | { overlappingSync: boolean }): RootDatabase => {
  try {
    return open({ path: folder, noSubdir: false, maxDbs: 16, pageSize: PAGE_BYTES, ...options })
  } catch (error) {
    throw new Damaged(`${folder} does not hold a readable LMDB file (${messageOf(error)}); restore it from a backup`)
  }
}

/**
 * The library crashes the process silently on a file that is not LMDB's, so this checks the two meta pages first. It
 * waits for another process that is just creating the file.
 */
const checkMetaPages = (path: string) => {
  const deadlineMs = performance.now() + CREATION_MS
  while (existsSync(path) && !isLmdbFile(path)) {
    if (performance.now() > deadlineMs)
      throw new Damaged(`${path} is damaged or truncated: it is not an LMDB file; restore it from a backup`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RECHECK_MS)
  }
}

/** Whether both meta pages exist, and the root of the newer one is a tree page. */
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
 * A read past the end of a mapped file crashes the process silently. An intact file can lack pages at its end that were
 * allocated and freed in one transaction. A file that can be rebuilt is extended; real damage shows up on reading.
 */
const ensureWhole = (root: RootDatabase, path: string, durable: boolean) =>
  root.transactionSync(() => {
    const { pageSize, lastPageNumber } = root.getStats() as { pageSize: number; lastPageNumber: number }
    const expectedBytes = (lastPageNumber + 1) * pageSize
    const sizeBytes = statSync(path).size
    if (sizeBytes >= expectedBytes) return
    if (durable) throw new Damaged(`${path} is truncated to ${sizeBytes} bytes; restore it from a backup`)
    truncateSync(path, expectedBytes)
  })

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
