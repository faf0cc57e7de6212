import type { Position } from '../../../schemas/recorded.ts'
import type { PassedEvent, ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { closeFlushed, closeLmdb, openLmdbReadOnly, type RootDatabase } from '../lmdb/environment.ts'
import { type LogFile, lastPosition, readEventAt, readPages, readStreamPages, skimPages } from './lmdb-pages.ts'
import { StreamIndex } from './lmdb-stream-index.ts'

/**
 * After so many pages of events, the file is opened again. Whatever was read of a file stays mapped until it is closed,
 * and counts as memory of this process: with common events, these are some 20 MB.
 */
const PAGES_PER_OPENING = 32

interface OpenFile extends LogFile {
  root: RootDatabase
}

/** The event log in an LMDB folder, to read only: also while a service writes to it, and from a read-only disk. */
export const openLmdbEventLogReadOnly = (folder: string): ReadableLog => {
  const file = openFile(folder)
  let isClosed = false

  /** Closed first, since the library maps a file once for all that have it open. Nothing is read in between. */
  const reopen = () => {
    if (isClosed) return
    void closeFlushed(file.root)
    Object.assign(file, openFile(folder))
  }

  async function* reopening<Event extends PassedEvent>(pages: AsyncIterable<Event[]>): AsyncGenerator<Event[]> {
    let count = 0
    for await (const page of pages) {
      yield page
      count += 1
      if (count % PAGES_PER_OPENING === 0) reopen()
    }
  }

  return {
    head: async () => {
      file.root.resetReadTxn()
      return lastPosition(file)
    },
    readAll: after => {
      file.root.resetReadTxn()
      return reopening(readPages(file, after))
    },
    skimAll: (after, isWanted) => {
      file.root.resetReadTxn()
      return reopening(skimPages(file, after, isWanted))
    },
    readStream: (stream, fromRevision) => {
      file.root.resetReadTxn()
      file.index.catchUp()
      return readStreamPages(file, stream, fromRevision)
    },
    readEvent: async (stream, revision) => {
      file.root.resetReadTxn()
      file.index.catchUp()
      return readEventAt(file, stream, revision)
    },
    close: () => {
      isClosed = true
      return closeLmdb(file.root)
    },
  }
}

const openFile = (folder: string): OpenFile => {
  const root = openLmdbReadOnly(folder)
  const entries = root.openDB<string, Position>('entries', { encoding: 'string' })
  // Without a log in it, the file has no such database.
  if (!entries) throw new Damaged(`${folder} holds no event log`)
  return { folder, root, entries, index: new StreamIndex(folder, root, entries) }
}
