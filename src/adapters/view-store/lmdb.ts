import { BEFORE_FIRST } from '../../ports/event-log.ts'
import {
  type Batch,
  BY_KEY,
  type Checkpoint,
  CheckpointMoved,
  type Entry,
  type Range,
  type RowAddress,
  type Snapshot,
  type ViewStore,
} from '../../ports/view-store.ts'
import { openLmdb } from '../lmdb.ts'

/** Behind every character that a place can have. */
const LAST = '\uffff'

const CHECKPOINT = 'checkpoint'

// The two kinds of cells, in the order of their names.
const INDEX = 'index/'
const ROWS = 'rows/'

interface Lease {
  holder: string
  untilMs: number
}

/** The views in one LMDB folder, for any number of processes on one machine. A commit is visible before it is durable. */
export const openLmdbViewStore = (folder: string): ViewStore => {
  const root = openLmdb(folder, { durable: false })
  const meta = root.openDB<Checkpoint, string>('meta', { encoding: 'json' })
  const rows = root.openDB<object, string>('rows', { encoding: 'json' })
  const index = root.openDB<string, string>('index', { encoding: 'string' })
  const leases = root.openDB<Lease, string>('leases', { encoding: 'json' })
  const snapshots = root.openDB<Snapshot, string>('snapshots', { encoding: 'json' })

  const get = <Row>(view: string, key: string) => rows.get(rowAddress(view, key)) as Row | undefined

  /** All of a write, or nothing: a plain transaction of the library keeps what was put before an exception. */
  const atOnce = (write: () => void): Promise<void> => root.childTransaction(write)

  /** Runs inside the write transaction, where no other process can write. */
  const expectCheckpoint = (from: Checkpoint | undefined) => {
    const now = meta.get(CHECKPOINT)
    if (now?.eventId !== from?.eventId || now?.version !== from?.version)
      throw new CheckpointMoved('another projector was there first')
  }

  const commit = async (batch: Batch) => {
    await atOnce(() => {
      expectCheckpoint(batch.from)
      for (const { view, key, row } of batch.rows) {
        if (row) rows.put(rowAddress(view, key), row)
        else rows.remove(rowAddress(view, key))
      }
      for (const { view, index: name, place, key } of batch.entries) {
        if (key === undefined) index.remove(indexAddress(view, name, place))
        else index.put(indexAddress(view, name, place), key)
      }
      meta.put(CHECKPOINT, batch.to)
    })
  }

  return {
    checkpoint: async () => {
      root.resetReadTxn()
      return meta.get(CHECKPOINT)
    },
    get: async (view, key) => get(view, key),
    getMany: async <Row>(wanted: RowAddress[]) => ({
      position: meta.get(CHECKPOINT)?.position ?? BEFORE_FIRST,
      rows: wanted.map(({ view, key }) => get<Row>(view, key)),
    }),

    list: async <Row>(view: string, name: string, range: Range) => {
      const found: Entry<Row>[] = []
      if (name === BY_KEY) {
        const prefix = rowAddress(view, '')
        for (const { key: address, value } of rows.getRange(toLmdbRange(prefix, range))) {
          const key = address.slice(prefix.length)
          found.push({ place: key, key, row: value as Row })
        }
        return found
      }
      const prefix = indexAddress(view, name, '')
      for (const { key: address, value: key } of index.getRange(toLmdbRange(prefix, range))) {
        const row = get<Row>(view, key)
        if (row) found.push({ place: address.slice(prefix.length), key, row })
      }
      return found
    },

    commit,

    lease: async (keys, holder, nowMs, untilMs) =>
      root.transaction(() =>
        keys.filter(key => {
          const lease = leases.get(key)
          if (lease && lease.holder !== holder && lease.untilMs > nowMs) return false
          leases.put(key, { holder, untilMs })
          return true
        }),
      ),
    release: async (keys, holder) => {
      await root.transaction(() => {
        for (const key of keys) if (leases.get(key)?.holder === holder) leases.remove(key)
      })
    },

    loadSnapshot: async stream => snapshots.get(stream),
    saveSnapshot: async (stream, snapshot) => {
      await snapshots.put(stream, snapshot)
    },
    deleteSnapshots: async () => {
      await snapshots.clearAsync()
    },

    dump: async () => {
      root.resetReadTxn()
      const transaction = root.useReadTransaction()
      const checkpoint = meta.get(CHECKPOINT, { transaction })
      async function* cells() {
        for (const { key, value } of index.getRange({ transaction })) yield { address: INDEX + key, value }
        for (const { key, value } of rows.getRange({ transaction }))
          yield { address: ROWS + key, value: JSON.stringify(value) }
      }
      return { checkpoint, cells: cells(), close: () => transaction.done() }
    },

    repair: async (changes, at) => {
      await atOnce(() => {
        expectCheckpoint(at)
        for (const { address, value } of changes) {
          const inRows = address.startsWith(ROWS)
          const key = address.slice((inRows ? ROWS : INDEX).length)
          if (value === undefined) (inRows ? rows : index).remove(key)
          else if (inRows) rows.put(key, JSON.parse(value))
          else index.put(key, value)
        }
      })
    },

    clear: async () => {
      await Promise.all([meta, rows, index, leases, snapshots].map(database => database.clearAsync()))
    },

    close: () => root.close(),
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
