import { Damaged, Unavailable } from '../../ports/faults.ts'
import type { Cell, StoredViews } from '../../ports/view-store.ts'
import { isDamage, type LmdbOptions } from '../lmdb/environment.ts'
import { deleteLmdb, identityOf, lmdbFile } from '../lmdb/file.ts'
import { openLmdbViewStore } from './lmdb.ts'

interface RecoverableViewsOptions {
  folder: string
  check: LmdbOptions['check']
  /** Called after damaged views were deleted. */
  onDamage: (error: Error) => void
}

/**
 * The views in an LMDB folder. Damaged views are deleted, and a projector rebuilds them like the views of any empty
 * store. The store checks its file when it opens, since reading a damaged file may crash the process. If a read finds
 * damage later, or if another process has replaced the file, the store opens a new file while it is in use.
 */
export const openRecoverableViews = ({ folder, check, onDamage }: RecoverableViewsOptions): StoredViews => {
  const file = lmdbFile(folder)

  const open = () => {
    const identity = identityOf(file)
    try {
      return openLmdbViewStore(folder, check)
    } catch (error) {
      if (!(error instanceof Damaged)) throw error
      deleteLmdb(folder, identity)
      onDamage(error)
      return openLmdbViewStore(folder, check)
    }
  }

  let store = open()
  let identity = identityOf(file)
  /**
   * Replaced stores stay open: reads of them may be in progress, and reading a closed environment would crash the
   * process.
   */
  const replaced: StoredViews[] = []

  const reopen = () => {
    replaced.push(store)
    store = open()
    identity = identityOf(file)
  }

  /** Starts the recovery. Returns the error to reject with. */
  const recover = (error: unknown, from: StoredViews): unknown => {
    if (!isDamage(error)) return error
    if (store === from) {
      deleteLmdb(folder, identity)
      onDamage(error as Error)
      reopen()
    }
    return new Unavailable('the views were damaged, and are being rebuilt', { part: 'views' })
  }

  const guarded =
    (name: keyof StoredViews) =>
    async (...args: unknown[]) => {
      const from = store
      try {
        return await (from[name] as (...args: unknown[]) => unknown)(...args)
      } catch (error) {
        throw recover(error, from)
      }
    }

  async function* guardedCells(cells: AsyncIterable<Cell>, from: StoredViews): AsyncGenerator<Cell> {
    try {
      yield* cells
    } catch (error) {
      throw recover(error, from)
    }
  }

  const methods = Object.keys(store) as (keyof StoredViews)[]
  const all = Object.fromEntries(methods.map(name => [name, guarded(name)])) as unknown as StoredViews
  return {
    ...all,
    checkpoint: () => {
      if (identityOf(file) !== identity) reopen()
      return all.checkpoint()
    },
    dump: async () => {
      const from = store
      const dump = await all.dump()
      return { ...dump, cells: guardedCells(dump.cells, from) }
    },
    close: async () => {
      await Promise.all([store, ...replaced].map(each => each.close()))
    },
  }
}
