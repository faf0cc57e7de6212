import type { Position } from '../../../schemas/recorded.ts'
import type { ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { closeLmdb, openLmdbReadOnly } from '../lmdb.ts'
import { lastPosition, readEventAt, readPages, readStreamPages, skimPages } from './lmdb-pages.ts'
import { StreamIndex } from './lmdb-stream-index.ts'

/** The event log in an LMDB folder, to read only: also while a service writes to it, and from a read-only disk. */
export const openLmdbEventLogReadOnly = (folder: string): ReadableLog => {
  const root = openLmdbReadOnly(folder)
  const entries = root.openDB<string, Position>('entries', { encoding: 'string' })
  // Without a log in it, the file has no such database.
  if (!entries) throw new Damaged(`${folder} holds no event log`)
  const index = new StreamIndex(folder, root, entries)
  return {
    head: async () => {
      root.resetReadTxn()
      return lastPosition(entries)
    },
    readAll: after => {
      root.resetReadTxn()
      return readPages(entries, after)
    },
    skimAll: (after, isWanted) => {
      root.resetReadTxn()
      return skimPages(entries, after, isWanted)
    },
    readStream: (stream, fromRevision) => {
      root.resetReadTxn()
      index.catchUp()
      return readStreamPages(folder, entries, index, stream, fromRevision)
    },
    readEvent: async (stream, revision) => {
      root.resetReadTxn()
      index.catchUp()
      return readEventAt(folder, entries, index, stream, revision)
    },
    close: () => closeLmdb(root),
  }
}
