import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Database, open, type RootDatabase } from 'lmdb'
import { Damaged, InDoubt, Unavailable } from '../../ports/faults.ts'
import { checkMetaPages, ensureWritable, expectWhole, extend, identityOf, lmdbFile, transactionInFile } from './file.ts'
import { PAGE_BYTES } from './layout.ts'
import { isLocked, whileLocked } from './open-lock.ts'
import { checkTrees } from './tree.ts'

export type { Database, RootDatabase }

/** An open environment, and the number of its openers. */
interface Environment {
  folder: string
  root: RootDatabase
  users: number
  /** Set if others in this process may share it. */
  file?: string
}

/**
 * The environments to which this process writes, by file. The library maps a file once for all openers, but gives each
 * opener a queue of writes. If one opens the file while another's transaction waits for its callback, the opening waits
 * for the transaction and the callback for the opening, forever. So all openers share one queue.
 */
const environments = new Map<string, Environment>()

/** The databases opened through each open root. */
const shares = new WeakMap<RootDatabase, { environment: Environment; databases: Database[] }>()

export interface LmdbOptions {
  /** Whether a commit resolves once it is on disk. Otherwise it resolves once it is visible, before it is on disk. */
  durable: boolean
  /** Whether to check the whole file for damage: always, unless other processes have it open, or (if missing) never. */
  check?: 'always' | 'unless in use' | undefined
  /** The names of all databases. A file with others is not opened. */
  databases?: readonly string[]
}

/**
 * Opens or creates an LMDB environment in a folder, which several processes can share. Throws Damaged if the file is
 * truncated, not an LMDB file, or fails the check, and Unavailable if it has other databases.
 */
export const openLmdb = (folder: string, options: LmdbOptions): RootDatabase => {
  ensureWritable(folder)
  return options.durable ? orRestore(() => openFile(folder, options)) : openFile(folder, options)
}

/** Adds the advice to a Damaged. */
const orRestore = <Opened>(open: () => Opened): Opened => {
  try {
    return open()
  } catch (error) {
    throw error instanceof Damaged ? new Damaged(`${error.message}; restore it from a backup`) : error
  }
}

const openFile = (folder: string, { durable, check, databases }: LmdbOptions): RootDatabase => {
  const path = lmdbFile(folder)
  if (durable) expectWhole(path)
  checkMetaPages(path)
  const known = environments.get(identityOf(path) ?? '')
  if (known) {
    if (databases) expectOwn(known.root, path, databases)
    return shareOf(known)
  }
  if (!durable) extend(path)
  const root = openFolder(folder, { overlappingSync: !durable })
  try {
    if (databases) expectOwn(root, path, databases)
    if (check === 'always' || (check && !isInUse(root))) checkPages(root, path)
  } catch (error) {
    root.close()
    throw error
  }
  const environment = { folder, root, file: identityOf(path) as string, users: 0 }
  environments.set(environment.file, environment)
  return shareOf(environment)
}

/** The number of entries of a database in the current transaction. */
export const entriesOf = (database: Database<unknown, string>): number =>
  (database.getStats() as { entryCount: number }).entryCount

/** Whether an error of the library shows that the file is damaged. It ends the transaction and makes it invalid. */
export const isDamage = (error: unknown): boolean =>
  /\bMDB_(CORRUPTED|PAGE_NOTFOUND|PANIC|INVALID|BAD_TXN)\b/.test(messageOf(error))

/** Whether other processes read the environment. */
const isInUse = (root: RootDatabase): boolean => {
  root.readerCheck()
  const pids = [...root.readerList().matchAll(/^ *(\d+) /gm)].map(([, pid]) => Number(pid))
  return pids.some(pid => pid !== process.pid)
}

const checkPages = (root: RootDatabase, path: string) => {
  const transaction = root.useReadTransaction()
  try {
    checkTrees(path)
  } finally {
    transaction.done()
  }
}

const shareOf = (environment: Environment): RootDatabase => {
  const { root } = environment
  const databases: Database[] = []
  const openDB = (...database: Parameters<RootDatabase['openDB']>) => {
    const opened = root.openDB(...database)
    // A file that is opened read-only may lack the database.
    if (opened) databases.push(opened)
    return opened
  }
  const share: RootDatabase = Object.assign(Object.create(root), {
    openDB,
    transaction: inNewest(environment, 'transaction'),
    childTransaction: inNewest(environment, 'childTransaction'),
  })
  shares.set(share, { environment, databases })
  environment.users += 1
  return share
}

/** How long a write waits before it is retried while another process opens the environment. */
const RETRY_MS = 2

/**
 * Wraps a method that runs a write. The write waits until its transaction builds on the newest transaction in the file.
 */
const inNewest =
  ({ root, folder }: Environment, method: 'transaction' | 'childTransaction') =>
  async <Result>(write: () => Result): Promise<Result> => {
    let isReopened = false
    // No other process can commit while this runs.
    const tryOnce = () => {
      if (isLocked(folder)) return undefined
      if (root.getWriteTxnId() === newestTransaction(root) + 1) return { result: write() }
      if (isReopened) throw new Unavailable(`LMDB does not find the newest transaction in ${folder}`)
      openElsewhere(folder)
      isReopened = true
      return undefined
    }
    while (true) {
      const done = await root[method](tryOnce).catch(async error => {
        throw await asFault(error, folder)
      })
      if (done) return done.result
      await delay(RETRY_MS)
    }
  }

/**
 * The fault of a failed commit. The library passes the cause in a promise, whose rejection would end the process. Pages
 * are written before the meta page that makes them part of the file, so if they fail, the file has not changed.
 */
const asFault = async (error: Error & { commitError?: Promise<never> }, folder: string): Promise<Error> => {
  if (!error.commitError) return error
  const cause = await error.commitError.catch(messageOf)
  const message = `${folder} could not be written (${cause})`
  return cause.includes('Attempting to write page') ? new NotWritten(message) : new InDoubt(message)
}

/** A commit failed and has changed nothing: the disk is full or read-only. Later commits may succeed. */
export class NotWritten extends Unavailable {
  override readonly part = 'disk'
}

/** The number of the newest transaction in the file. LMDB may build on another one. */
const newestTransaction = (root: RootDatabase): number =>
  (root as RootDatabase & { env: { info(): { lastTxnId: number } } }).env.info().lastTxnId

/**
 * Opens the environment in another process, which makes LMDB build on its newest transaction again. This is needed only
 * after a process was killed while it opened the environment.
 */
const openElsewhere = (folder: string) => {
  const script = `const { open } = await import(process.argv[1])
    await open({ path: process.argv[2], noSubdir: false, readOnly: true }).close()`
  execFileSync(process.execPath, ['--input-type=module', '--eval', script, import.meta.resolve('lmdb'), folder])
}

/**
 * Opens an existing LMDB environment without writing to its file. Other processes may write to it, and the disk may be
 * read-only. Throws Unavailable if there is none or it has other databases, and Damaged if it is not an LMDB file.
 */
export const openLmdbReadOnly = (folder: string, databases: readonly string[]): RootDatabase => {
  const path = lmdbFile(folder)
  if (!existsSync(path)) throw new Unavailable(`${folder} holds no LMDB file`)
  return orRestore(() => {
    expectWhole(path)
    checkMetaPages(path)
    const known = environments.get(identityOf(path) ?? '')
    const environment = known ?? { folder, root: openFolder(folder, { readOnly: true }), users: 0 }
    expectOwn(environment.root, path, databases)
    return shareOf(environment)
  })
}

/** The methods that start a read or a write. All other methods use these. */
const METHODS = [
  'get',
  'getRange',
  'getStats',
  'useReadTransaction',
  'put',
  'remove',
  'clearAsync',
  'transaction',
  'childTransaction',
]

/**
 * Closes an environment. Reads and writes then throw Unavailable. Otherwise the library would start them while it still
 * flushes earlier writes, and later throw from a timer, which ends the process.
 */
export const closeLmdb = async (root: RootDatabase): Promise<void> => {
  await root.flushed
  await closeFlushed(root)
}

/** Closes an environment at once. Nothing may have been written since its last flush. */
export const closeFlushed = async (root: RootDatabase): Promise<void> => {
  const share = shares.get(root)
  if (!share) return
  shares.delete(root)
  const { environment, databases } = share
  for (const database of [root, ...databases]) Object.assign(database, refusals)
  environment.users -= 1
  if (environment.users > 0) return
  if (environment.file !== undefined) environments.delete(environment.file)
  await whileLocked(environment.folder, () => environment.root.close())
}

const refuse = (): never => {
  throw new Unavailable('the database is closed')
}

const refusals = Object.fromEntries(METHODS.map(method => [method, refuse]))

/**
 * `eventTurnBatching` would put the writes of a turn into one transaction. Here, all writes are transactions already.
 * Its own promise, for which nobody can wait, would end the process when a commit fails.
 */
const SETTINGS = { noSubdir: false, maxDbs: 16, pageSize: PAGE_BYTES, eventTurnBatching: false }

const openFolder = (folder: string, options: { readOnly: true } | { overlappingSync: boolean }): RootDatabase => {
  const openOnce = () => open({ path: folder, ...SETTINGS, ...options })
  try {
    return whileLocked(folder, () => {
      while (true) {
        const before = transactionInFile(folder)
        const root = openOnce()
        // Another process may have committed in the meantime: one transaction can be running while the folder is
        // locked.
        if (before === undefined || before === newestTransaction(root)) return root
        root.close()
      }
    })
  } catch (error) {
    throw new Damaged(`${folder} does not hold a readable LMDB file (${messageOf(error)})`)
  }
}

/** Throws Unavailable if a file holds other databases, which are of another store or program. */
const expectOwn = (root: RootDatabase, path: string, databases: readonly string[]) => {
  const foreign = [...root.getKeys({ limit: databases.length + 1 })].find(name => !databases.includes(String(name)))
  if (foreign === undefined) return
  const found = `${path} has a database ${JSON.stringify(String(foreign))}`
  const advice = 'Nothing was written to it. Correct the address of this store, or move the file away'
  throw new Unavailable(`${found}, so it is the file of another store or program. ${advice}`)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
