import { setTimeout as delay } from 'node:timers/promises'
import type { Position, RawEvent } from '../../../schemas/recorded.ts'
import { type AppendResult, type EventLog, RevisionConflict } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import { freeSpaceGuard, LOG_RESERVE_BYTES } from '../free-space.ts'
import { closeLmdb, type Database, NotWritten, openLmdb } from '../lmdb/environment.ts'
import { damaged, type Entry, reading, toRawEvent } from './lmdb-entry.ts'
import { lastPosition, readEventAt, readPages, readStreamPages } from './lmdb-pages.ts'
import { LOG_DATABASES, MAX_REVISIONS, StreamIndex } from './lmdb-stream-index.ts'
import { Signal } from './signal.ts'

/** How often to look for appends by other processes: seldom by the command line, and all the time by other workers. */
const POLL_MS = 100
const POLL_SHARED_MS = 5

/** The queue limit, about 50 MB at a kilobyte each. Beyond it, the disk is not keeping up. */
const MAX_PENDING = 50_000

/** How many events at the end of the log are checked on opening. Damage is most likely there. */
const TAIL_EVENTS = 100

/** Entries are written in key order, which saves LMDB the search for their place. */
const APPENDED = { append: true }

type WriteResult = { appended: AppendResult } | { conflict: RevisionConflict }

interface PendingAppend {
  stream: string
  texts: string[]
  expectedRevision: number
  resolve(appended: AppendResult): void
  reject(error: Error): void
}

interface LmdbLogOptions {
  /** Emits the last position of each commit. Other code may emit too, to make followers read at once. */
  appended?: Signal<Position> | undefined
  /** Whether other processes append all the time. */
  isShared?: boolean | undefined
}

/**
 * The event log in an LMDB folder, for any number of processes on one machine. One commit writes all pending appends.
 * If the disk takes no pages, the appends reject with Unavailable. After any other failed commit, the content of the
 * disk is unknown, so `die` must end the process. The next start reads what was written.
 */
export const openLmdbEventLog = (
  folder: string,
  die: (error: Error) => void,
  { appended = new Signal<Position>(), isShared = false }: LmdbLogOptions = {},
): EventLog => {
  const root = openLmdb(folder, { durable: true, databases: LOG_DATABASES })
  const entries = root.openDB<string, number>('entries', { encoding: 'string' })
  const index = reading(folder, () => {
    checkTail(folder, entries)
    return new StreamIndex(folder, root, entries)
  })
  const file = { folder, entries, index }
  const ensureFreeSpace = freeSpaceGuard(folder, LOG_RESERVE_BYTES)
  const pending: PendingAppend[] = []
  let committing = false
  let closed = false

  /** Runs inside the write transaction, where no other process can write. */
  const write = (batch: PendingAppend[]): WriteResult[] => {
    let position = index.catchUp()
    index.writeWhenDue()
    const revisions = new Map<string, number>()
    return batch.map(({ stream, texts, expectedRevision }) => {
      let revision = revisions.get(stream) ?? index.lastRevision(stream)
      if (revision !== expectedRevision) return { conflict: new RevisionConflict(stream, expectedRevision) }
      if (revision + texts.length >= MAX_REVISIONS) throw new Error(`the stream ${stream} is full`)
      for (const text of texts) entries.putSync(++position, text, APPENDED)
      revision += texts.length
      revisions.set(stream, revision)
      return { appended: { revision, position } }
    })
  }

  /** Runs after the commit, because the index must hold only committed events. */
  const settle = ({ stream, texts, resolve, reject }: PendingAppend, result: WriteResult) => {
    if ('conflict' in result) return reject(result.conflict)
    const { revision, position } = result.appended
    for (let back = texts.length - 1; back >= 0; back--) index.add(stream, revision - back, position - back)
    resolve(result.appended)
  }

  const commitPending = async () => {
    committing = true
    while (pending.length > 0) {
      let batch: PendingAppend[] = []
      try {
        ensureFreeSpace()
      } catch (error) {
        for (const append of pending.splice(0)) append.reject(error as Error)
        continue
      }
      try {
        const results = await root.transaction(() => {
          // Taken this late, so that one commit takes all appends that arrive before its transaction begins.
          batch = pending.splice(0)
          return write(batch)
        })
        batch.forEach((append, index) => {
          settle(append, results[index] as WriteResult)
        })
      } catch (error) {
        if (!(error instanceof NotWritten)) die(error as Error)
        for (const append of [...batch, ...pending.splice(0)]) append.reject(error as Error)
      }
      appended.emit(index.seen)
    }
    committing = false
  }

  /** Starts to read the newest state. */
  const refresh = async () => {
    root.resetReadTxn()
    if (lastPosition(file) >= index.seen) return
    // A process was killed while it opened the log, and the log has looked older since. A write makes its end visible
    // again.
    await root.transaction(() => undefined)
    root.resetReadTxn()
  }

  return {
    append: (stream, events, expectedRevision) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Unavailable('the event log is closed', { part: 'log' }))
        if (pending.length >= MAX_PENDING)
          return reject(new Unavailable('too many appends are waiting for the event log', { part: 'log' }))
        const texts = events.map(({ id, type, data, metadata }, index) => {
          const entry: Entry = [stream, expectedRevision + 1 + index, id, type, data, metadata]
          return JSON.stringify(entry)
        })
        pending.push({ stream, texts, expectedRevision, resolve, reject })
        if (!committing) commitPending()
      }),

    async *readStream(stream, fromRevision) {
      await refresh()
      index.catchUp()
      yield* readStreamPages(file, stream, fromRevision)
    },

    readEvent: async (stream, revision) => {
      await refresh()
      index.catchUp()
      return readEventAt(file, stream, revision)
    },

    async *readAll(after) {
      await refresh()
      yield* readPages(file, after)
    },

    async *follow(after, signal) {
      let from = after
      while (!signal.aborted) {
        const change = appended.wait(isShared ? POLL_SHARED_MS : POLL_MS, signal)
        await refresh()
        for await (const page of readPages(file, from)) {
          from = (page.at(-1) as RawEvent).position
          yield page
          if (signal.aborted) return
        }
        await change
      }
    },

    lastPosition: stream => {
      root.resetReadTxn()
      index.catchUp()
      return index.lastPosition(stream)
    },

    head: async () => {
      await refresh()
      return lastPosition(file)
    },

    close: async () => {
      closed = true
      while (committing) await delay(1)
      await closeLmdb(root)
    },
  }
}

const checkTail = (folder: string, entries: Database<string, number>) => {
  let next: Position | undefined
  for (const { key, value } of entries.getRange({ reverse: true, limit: TAIL_EVENTS })) {
    toRawEvent(folder, key, value)
    if (next !== undefined && key !== next - 1) throw damaged(folder, `position ${next - 1} is missing`)
    next = key
  }
}
