import type { Position } from '../../../schemas/recorded.ts'
import type { PassedEvent, ReadableLog } from '../../ports/event-log.ts'
import { Damaged } from '../../ports/faults.ts'
import { closeFlushed, closeLmdb, openLmdbReadOnly, type RootDatabase } from '../lmdb/environment.ts'
import { reading } from './lmdb-entry.ts'
import { type LogFile, lastPosition, readEventAt, readPages, readStreamPages, skimPages } from './lmdb-pages.ts'
import { LOG_DATABASES, StreamIndex } from './lmdb-stream-index.ts'

/**
 * After this many pages, the file is reopened. Pages that were read stay mapped until the file is closed, and count as
 * memory of this process: about 20 MB with common events.
 */
const PAGES_PER_OPENING = 32

interface OpenFile extends LogFile {
  root: RootDatabase
}

/**
 * The event log in an LMDB folder, read-only. A service may write to it at the same time, and the disk may be
 * read-only.
 */
export const openLmdbEventLogReadOnly = (folder: string): ReadableLog => {
  const file = openFile(folder)
  let isClosed = false

  /** Closes the file first, since the library maps a file once for all its openers. Nothing is read in between. */
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
      return reading(folder, () => lastPosition(file))
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
      reading(folder, () => file.index.catchUp())
      return readStreamPages(file, stream, fromRevision)
    },
    readEvent: async (stream, revision) => {
      file.root.resetReadTxn()
      reading(folder, () => file.index.catchUp())
      return readEventAt(file, stream, revision)
    },
    close: () => {
      isClosed = true
      return closeLmdb(file.root)
    },
  }
}

const openFile = (folder: string): OpenFile => {
  const root = openLmdbReadOnly(folder, LOG_DATABASES)
  const entries = root.openDB<string, Position>('entries', { encoding: 'string' })
  try {
    // A file without a log has no such database.
    if (!entries) throw new Damaged(`${folder} holds no event log`)
    return { folder, root, entries, index: reading(folder, () => new StreamIndex(folder, root, entries)) }
  } catch (error) {
    void closeFlushed(root)
    throw error
  }
}
