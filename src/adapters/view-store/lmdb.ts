import { BEFORE_FIRST } from '../../ports/event-log.ts'
import {
  type Batch,
  BY_KEY,
  type Checkpoint,
  CheckpointMoved,
  type Entry,
  MAX_CLOCK_SKEW_MS,
  type Range,
  type Report,
  type Snapshot,
  type StoredViews,
} from '../../ports/view-store.ts'
import { freeSpaceGuard, VIEW_RESERVE_BYTES } from '../free-space.ts'
import { closeLmdb, entriesOf, type LmdbOptions, openLmdb } from '../lmdb/environment.ts'
import { overwriteDeleted } from '../lmdb/overwrite-deleted.ts'
import { checkpointText, parseJson, toCheckpoint } from './stored-json.ts'

/** Sorts after every character of a place. */
const LAST = '\uffff'

const CHECKPOINT = 'checkpoint'

const DATABASES = ['meta', 'rows', 'index', 'leases', 'reports', 'snapshots', 'nodes'] as const

// The two kinds of cells, in sort order.
const INDEX = 'index/'
const ROWS = 'rows/'

interface Lease {
  holder: string
  untilMs: number
}

/**
 * The views in an LMDB folder, for any number of processes on one machine. A commit is visible before it is durable.
 * Each read begins with the newest commit: by itself, the library reads one state until its next timer, but the
 * projector's thread may already have reported a newer one. Values are JSON and are parsed here, because the library's
 * own decoder throws for other text. `disk` is a folder on the same disk, for a folder that is deleted while it is in
 * use.
 */
export const openLmdbViewStore = (folder: string, check?: LmdbOptions['check'], disk = folder): StoredViews => {
  const root = openLmdb(folder, { durable: false, check, databases: DATABASES })
  const open = (name: (typeof DATABASES)[number]) => root.openDB<string, string>(name, { encoding: 'string' })
  const [meta, rows, index, leases] = [open('meta'), open('rows'), open('index'), open('leases')]
  const [reports, snapshots, nodes] = [open('reports'), open('snapshots'), open('nodes')]

  const get = (view: string, key: string) => rows.get(rowAddress(view, key))
  const countCells = () => entriesOf(rows) + entriesOf(index)
  const checkpoint = () => toCheckpoint(meta.get(CHECKPOINT), countCells())

  const leaseOf = (key: string) => parseJson<Lease>(leases.get(key))

  const ensureFreeSpace = freeSpaceGuard(disk, VIEW_RESERVE_BYTES)

  const write = async <Result>(change: () => Result): Promise<Result> => {
    ensureFreeSpace()
    return root.transaction(change)
  }

  /** A child transaction, because the library's plain transactions keep writes from before an exception. */
  const atomically = async (change: () => void): Promise<void> => {
    ensureFreeSpace()
    await root.childTransaction(change)
  }

  /** Runs inside the write transaction, where no other process can write. */
  const expectCheckpoint = (from: Checkpoint | undefined) => {
    if (JSON.stringify(checkpoint()) !== JSON.stringify(from))
      throw new CheckpointMoved('another projector has advanced the views')
  }

  const commit = async (batch: Batch<string>) => {
    await atomically(() => {
      expectCheckpoint(batch.from)
      for (const { view, key, row } of batch.rows) {
        if (row === undefined) rows.remove(rowAddress(view, key))
        else rows.put(rowAddress(view, key), row)
      }
      for (const { view, index: name, place, key } of batch.entries) {
        if (key === undefined) index.remove(indexAddress(view, name, place))
        else index.put(indexAddress(view, name, place), key)
      }
      meta.put(CHECKPOINT, checkpointText(batch.to, countCells()))
    })
  }

  return {
    checkpoint: async () => {
      root.resetReadTxn()
      return checkpoint()
    },
    get: async (view, key) => {
      root.resetReadTxn()
      return get(view, key)
    },
    getMany: async addresses => {
      root.resetReadTxn()
      // Counting takes longer than a read.
      const position = toCheckpoint(meta.get(CHECKPOINT))?.position ?? BEFORE_FIRST
      return { position, rows: addresses.map(({ view, key }) => get(view, key)) }
    },

    list: async (view, name, range) => {
      root.resetReadTxn()
      const found: Entry<string | undefined>[] = []
      if (name === BY_KEY) {
        const prefix = rowAddress(view, '')
        for (const { key: address, value } of rows.getRange(toLmdbRange(prefix, range))) {
          const key = address.slice(prefix.length)
          found.push({ place: key, key, row: value })
        }
        return found
      }
      const prefix = indexAddress(view, name, '')
      for (const { key: address, value: key } of index.getRange(toLmdbRange(prefix, range))) {
        found.push({ place: address.slice(prefix.length), key, row: get(view, key) })
      }
      return found
    },

    commit,

    lease: async (keys, holder, nowMs, untilMs) =>
      write(() =>
        keys.filter(key => {
          const lease = leaseOf(key)
          const isValid = lease && lease.untilMs > nowMs && lease.untilMs <= untilMs + MAX_CLOCK_SKEW_MS
          if (isValid && lease.holder !== holder) return false
          leases.put(key, JSON.stringify({ holder, untilMs }))
          return true
        }),
      ),
    release: async (keys, holder) => {
      await write(() => {
        for (const key of keys) if (leaseOf(key)?.holder === holder) leases.remove(key)
      })
    },

    report: async (reporter, text, nowMs, untilMs) => {
      await write(() => {
        for (const { key, value } of [...reports.getRange()]) {
          const endMs = parseJson<Report>(value)?.untilMs ?? 0
          if (endMs <= nowMs - MAX_CLOCK_SKEW_MS || endMs > untilMs + MAX_CLOCK_SKEW_MS) reports.remove(key)
        }
        if (text === undefined) reports.remove(reporter)
        else reports.put(reporter, JSON.stringify({ text, untilMs }))
      })
    },
    reports: async () => {
      root.resetReadTxn()
      return [...reports.getRange()].flatMap(({ value }) => parseJson<Report>(value) ?? [])
    },

    loadSnapshot: async stream => parseJson<Snapshot>(snapshots.get(stream)),
    saveSnapshot: async (stream, snapshot) => {
      await write(() => snapshots.putSync(stream, JSON.stringify(snapshot)))
    },
    deleteSnapshots: async stream => {
      await write(() => (stream === undefined ? snapshots.clearSync() : snapshots.removeSync(stream)))
    },
    overwriteDeleted: () => overwriteDeleted(root, [meta, rows, index, leases, reports, snapshots, nodes], write),

    loadNodes: async keys => keys.map(key => nodes.get(key)),
    saveNodes: async changes => {
      await write(() => {
        for (const [key, text] of changes)
          if (text === undefined) nodes.remove(key)
          else nodes.put(key, text)
      })
    },
    clearNodes: async () => {
      await write(() => nodes.clearSync())
    },

    dump: async () => {
      root.resetReadTxn()
      const transaction = root.useReadTransaction()
      const at = toCheckpoint(meta.get(CHECKPOINT, { transaction }))
      async function* cells() {
        for (const { key, value } of index.getRange({ transaction }))
          yield { view: key.slice(0, key.indexOf('.')), address: INDEX + key, value }
        for (const { key, value } of rows.getRange({ transaction }))
          yield { view: key.slice(0, key.indexOf('/')), address: ROWS + key, value }
      }
      return { checkpoint: at, cells: cells(), close: () => transaction.done() }
    },

    replaceCells: async (changes, from, to) => {
      await atomically(() => {
        expectCheckpoint(from)
        for (const { address, value } of changes) {
          const inRows = address.startsWith(ROWS)
          const key = address.slice((inRows ? ROWS : INDEX).length)
          if (value === undefined) (inRows ? rows : index).remove(key)
          else (inRows ? rows : index).put(key, value)
        }
        meta.put(CHECKPOINT, checkpointText(to, countCells()))
      })
    },

    clear: async () => {
      await write(() => {
        for (const database of [meta, rows, index, leases, reports, snapshots, nodes]) database.clearSync()
      })
    },

    close: () => closeLmdb(root),
  }
}

const rowAddress = (view: string, key: string) => `${view}/${key}`
const indexAddress = (view: string, index: string, place: string) => `${view}.${index}/${place}`

const toLmdbRange = (address: string, { prefix, after, before, newestFirst = false, limit }: Range) => {
  const [low, high] = newestFirst ? [before, after] : [after, before]
  const begin =
    low !== undefined && low >= prefix
      ? { key: address + low, exclusive: true }
      : { key: address + prefix, exclusive: false }
  const isWithin = high !== undefined && high <= prefix + LAST
  const end = address + (isWithin ? high : prefix + LAST)
  return newestFirst
    ? { start: end, end: begin.key, exclusiveStart: true, inclusiveEnd: !begin.exclusive, reverse: true, limit }
    : { start: begin.key, end, exclusiveStart: begin.exclusive, limit }
}
