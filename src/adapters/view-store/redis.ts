import { randomUUID } from 'node:crypto'
import type { Position } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import {
  BY_KEY,
  type CellChange,
  type Checkpoint,
  CheckpointMoved,
  DAMAGED,
  MAX_CLOCK_SKEW_MS,
  type Range,
  type StoredViews,
} from '../../ports/view-store.ts'
import { connectToRedis, type RedisOptions } from './redis-connection.ts'
import {
  BEGIN_DUMP,
  CLEAR,
  END_DUMP,
  HOLD_DUMP,
  LEASE,
  LIST,
  READ_CHECKPOINT,
  READ_DUMP,
  RELEASE,
  REPORT,
  WRITE,
} from './redis-scripts.ts'
import { parseJson, toCheckpoint } from './stored-json.ts'

/** Large writes usually take a tenth of a second. */
const WRITE_MS = 10_000

/** Sorts after every character of a place. */
const LAST = '\uffff'

/** The field beside the cells with the store's checkpoint. */
const CHECKPOINT = 'checkpoint'

// The two kinds of cells, in sort order.
const INDEX = 'index/'
const ROWS = 'rows/'

/** About the limit of LMDB, so that every log fits both stores. */
const MAX_ADDRESS_BYTES = 2000

/** How long the snapshot of an abandoned dump lives, and how often a running dump extends it. */
const DUMP_MS = 60_000
const HOLD_EVERY_MS = 15_000
const DUMP_PAGE = 200

/**
 * The views in Redis, for any number of processes on any machines. A hash holds all cells by address. A sorted set
 * orders the addresses by their bytes, as LMDB does. All places are ASCII, so this is also the order of the text. The
 * braces keep all keys in one cluster slot.
 */
export const openRedisViewStore = async ({
  address,
  keySpace = 'tollgate',
  onWarning,
  writeMs = WRITE_MS,
}: RedisOptions): Promise<StoredViews> => {
  const own = (name: string) => `{${keySpace}}:${name}`
  const [cells, order, dumps] = [own('cells'), own('order'), own('dumps')]
  const [holders, ends] = [own('lease-holders'), own('lease-ends')]
  const [reports, snapshots, nodes] = [own('reports'), own('snapshots'), own('nodes')]
  const redis = await connectToRedis({ address, writeMs, onWarning })

  /** The highest position of the store that this process has seen. */
  let furthest = BEFORE_FIRST

  /**
   * A store that was lost lacks rows, or holds older rows than were already shown. It must not be read until it is
   * rebuilt.
   */
  const expectWhole = (reached: number, seenBefore: number) => {
    if (reached < seenBefore)
      throw new Unavailable(`the views on ${redis.server} were lost and are being rebuilt`, { part: 'views' })
    furthest = Math.max(furthest, reached)
  }

  /**
   * A write that timed out may have succeeded, or may still succeed. A retry from the same checkpoint either writes or
   * rejects with CheckpointMoved.
   */
  const write = async (from: Checkpoint | undefined, to: Checkpoint, changes: CellChange[]) => {
    // The last of several changes to one cell wins.
    const last = new Map(changes.map(({ address, value }) => [address, value]))
    const puts: string[] = []
    const deletes: string[] = []
    for (const [address, value] of last) {
      if (Buffer.byteLength(address) > MAX_ADDRESS_BYTES) throw new RangeError('the address of a cell is too long')
      if (value === undefined) deletes.push(address)
      else puts.push(address, value)
    }
    const head = [from ? JSON.stringify(from) : '', JSON.stringify(to), String(puts.length / 2)]
    const written = await redis.write(WRITE, [cells, order, dumps], [...head, ...puts, ...deletes])
    if (written === 0) throw new CheckpointMoved('another projector has advanced the views')
    furthest = Math.max(furthest, to.position)
  }

  async function* readDump(dump: string) {
    let after = ''
    do {
      const args = [after, String(DUMP_PAGE), String(DUMP_MS)]
      const page = (await redis.write(READ_DUMP, [cells, order, dump], args)) as [string, string[]] | null
      if (!page) throw new Unavailable(`${redis.server} has lost the snapshot of a dump`, { part: 'views' })
      const [last, list] = page
      const found = list.flatMap((address, i) =>
        i % 2 ? [] : [{ view: viewOf(address), address, value: list[i + 1] as string }],
      )
      yield* found.sort((a, b) => (a.address < b.address ? -1 : 1))
      after = last
    } while (after !== '')
  }

  return {
    checkpoint: async () => {
      const [json, fields, places] = (await redis.list(READ_CHECKPOINT, [cells, order], [])) as CheckpointReply
      const found = fields === places ? toCheckpoint(json, fields) : DAMAGED
      furthest = Math.max(furthest, found?.position ?? BEFORE_FIRST)
      return found
    },
    get: async (view, rowKey) => {
      const seenBefore = furthest
      const [row, checkpoint] = await redis.read(client => client.hmget(cells, rowAddress(view, rowKey), CHECKPOINT))
      expectWhole(positionOf(checkpoint), seenBefore)
      return row ?? undefined
    },
    getMany: async rowAddresses => {
      const addresses = rowAddresses.map(({ view, key }) => rowAddress(view, key))
      const [checkpoint, ...rows] = await redis.read(client => client.hmget(cells, CHECKPOINT, ...addresses))
      return { position: positionOf(checkpoint), rows: rows.map(row => row ?? undefined) }
    },

    list: async (view, index, range) => {
      const byKey = index === BY_KEY
      const prefix = byKey ? rowAddress(view, '') : indexAddress(view, index, '')
      const args = [...toLexRange(prefix, range), byKey ? '' : rowAddress(view, '')]
      const seenBefore = furthest
      const [checkpoint, addresses, values, rows] = (await redis.list(LIST, [cells, order], args)) as ListReply
      expectWhole(positionOf(checkpoint), seenBefore)
      return addresses.map((address, i) => {
        const place = address.slice(prefix.length)
        return { place, key: byKey ? place : (values[i] as string), row: (rows ?? values)[i] ?? undefined }
      })
    },

    commit: ({ from, to, rows, entries }) =>
      write(from, to, [
        ...rows.map(({ view, key, row }) => ({ address: rowAddress(view, key), value: row })),
        ...entries.map(({ view, index, place, key }) => ({ address: indexAddress(view, index, place), value: key })),
      ]),

    lease: async (keys, holder, nowMs, untilMs) => {
      const times = [nowMs, untilMs, nowMs - MAX_CLOCK_SKEW_MS, untilMs + MAX_CLOCK_SKEW_MS].map(String)
      const taken = new Set((await redis.write(LEASE, [holders, ends], [holder, ...times, ...keys])) as string[])
      return keys.filter(key => taken.has(key))
    },
    release: async (keys, holder) => {
      await redis.write(RELEASE, [holders, ends], [holder, ...keys])
    },

    report: async (reporter, text, nowMs, untilMs) => {
      const times = [nowMs - MAX_CLOCK_SKEW_MS, untilMs + MAX_CLOCK_SKEW_MS].map(String)
      const value = text === undefined ? [] : [`${untilMs} ${text}`]
      await redis.write(REPORT, [reports], [reporter, ...times, ...value])
    },
    reports: async () => {
      const found = await redis.read(client => client.hvals(reports))
      return found.map(value => {
        const [untilMs = ''] = value.split(' ', 1)
        return { text: value.slice(untilMs.length + 1), untilMs: Number(untilMs) }
      })
    },

    loadSnapshot: async stream => parseJson(await redis.read(client => client.hget(snapshots, stream))),
    saveSnapshot: async (stream, snapshot) => {
      await redis.change(client => client.hset(snapshots, stream, JSON.stringify(snapshot)))
    },
    deleteSnapshots: async stream => {
      await redis.change(client => (stream === undefined ? client.unlink(snapshots) : client.hdel(snapshots, stream)))
    },

    loadNodes: async keys => {
      if (keys.length === 0) return []
      const found = await redis.read(client => client.hmget(nodes, ...keys))
      return found.map(text => text ?? undefined)
    },
    saveNodes: async changes => {
      const added = changes.flatMap(([key, text]) => (text === undefined ? [] : [key, text]))
      const deleted = changes.flatMap(([key, text]) => (text === undefined ? [key] : []))
      if (added.length > 0) await redis.change(client => client.hset(nodes, ...added))
      if (deleted.length > 0) await redis.change(client => client.hdel(nodes, ...deleted))
    },
    clearNodes: async () => {
      await redis.change(client => client.unlink(nodes))
    },

    dump: async () => {
      const dump = own(`dump:${randomUUID()}`)
      const json = await redis.write(BEGIN_DUMP, [cells, dumps, dump], [String(DUMP_MS)])
      // If this fails, the next page reports it.
      const hold = () => redis.write(HOLD_DUMP, [dump], [String(DUMP_MS)]).catch(() => undefined)
      const timer = setInterval(hold, HOLD_EVERY_MS).unref()
      const close = () => {
        clearInterval(timer)
        redis.write(END_DUMP, [dumps, dump], []).catch(() => undefined)
      }
      return { checkpoint: toCheckpoint(json as string | null), cells: readDump(dump), close }
    },

    replaceCells: (changes, from, to) => write(from, to, changes),
    clear: async () => {
      await redis.write(CLEAR, [dumps, cells, order, holders, ends, reports, snapshots, nodes], [])
      furthest = BEFORE_FIRST
    },
    close: async () => redis.close(),
  }
}

type CheckpointReply = [json: string | null, fields: number, places: number]

type ListReply = [checkpoint: string | null, addresses: string[], values: (string | null)[], rows?: (string | null)[]]

const rowAddress = (view: string, key: string) => `${ROWS}${view}/${key}`
const indexAddress = (view: string, index: string, place: string) => `${INDEX}${view}.${index}/${place}`

/** The view of a cell: `rows/<view>/…`, or `index/<view>.<index>/…`. */
const viewOf = (address: string) => address.split(/[/.]/, 2)[1] as string

const positionOf = (json: string | null | undefined): Position => toCheckpoint(json)?.position ?? BEFORE_FIRST

const toLexRange = (address: string, { prefix, after, before, newestFirst = false, limit }: Range) => {
  const [low, high] = newestFirst ? [before, after] : [after, before]
  const begin = low !== undefined && low >= prefix ? `(${address}${low}` : `[${address}${prefix}`
  const isWithin = high !== undefined && high <= prefix + LAST
  const end = `(${address}${isWithin ? high : prefix + LAST}`
  return [begin, end, newestFirst ? '1' : '', String(limit)]
}
