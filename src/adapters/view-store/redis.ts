import { randomUUID } from 'node:crypto'
import { BEFORE_FIRST } from '../../ports/event-log.ts'
import { Unavailable } from '../../ports/faults.ts'
import {
  type Batch,
  BY_KEY,
  type CellChange,
  type Checkpoint,
  CheckpointMoved,
  type Range,
  type RowAddress,
  type ViewStore,
} from '../../ports/view-store.ts'
import { connectToRedis, type RedisOptions } from './redis-connection.ts'
import { BEGIN_DUMP, CLEAR, END_DUMP, HOLD_DUMP, LEASE, LIST, READ_DUMP, RELEASE, WRITE } from './redis-scripts.ts'

/** Large ones take a tenth of a second as a rule. */
const WRITE_MS = 10_000

/** Behind every character that a place can have. */
const LAST = '\uffff'

/** The field beside the cells that says how far they reach. */
const POSITION = 'position'

// The two kinds of cells, in the order of their names.
const INDEX = 'index/'
const ROWS = 'rows/'

/** About what LMDB takes: a log that can be folded into the one store can be folded into the other. */
const MAX_ADDRESS_BYTES = 2000

/** How long the moment of a dump is held for one that no longer asks, and how often one asks. */
const DUMP_MS = 60_000
const HOLD_EVERY_MS = 15_000
const DUMP_PAGE = 200

/** How far the clocks of those who take leases may be apart before one sweeps away what another still has. */
const CLOCKS_APART_MS = 60_000

/**
 * The views in Redis, for any number of processes on any number of machines. A hash holds all cells by address, and a sorted
 * set their order, which is that of the bytes: as in LMDB, and as that of the text itself where it is ASCII, as all places are.
 * The braces keep all keys in one slot of a cluster.
 */
export const openRedisViewStore = async ({
  address,
  keySpace = 'tollgate',
  version = 0,
  onWarning,
  writeMs = WRITE_MS,
}: RedisOptions): Promise<ViewStore> => {
  const shared = (name: string) => `{${keySpace}}:${name}`
  const own = (name: string) => shared(`${version}:${name}`)
  const [cells, order, dumps] = [own('cells'), own('order'), own('dumps')]
  const [holders, ends, snapshots] = [shared('lease-holders'), shared('lease-ends'), own('snapshots')]
  const redis = await connectToRedis({ address, writeMs, onWarning })

  /** The furthest that this process has seen the cells reach. */
  let furthest = BEFORE_FIRST

  /**
   * What is missing from cells that were lost, or is older than what was shown before it was asked for, must not be taken for
   * the truth: until they are built anew there are no answers.
   */
  const expectWhole = (reached: number, seenBefore: number) => {
    if (reached < seenBefore) throw new Unavailable(`the views on ${redis.server} were lost and are being built anew`)
    furthest = Math.max(furthest, reached)
  }

  /**
   * A write whose time ran out may still be carried out, or may have been. Whoever tries again states the same old checkpoint:
   * the write is made if it was not, and CheckpointMoved if it was.
   */
  const write = async (from: Checkpoint | undefined, to: Checkpoint, changes: CellChange[]) => {
    // Of several changes to one cell the last one counts.
    const last = new Map(changes.map(({ address, value }) => [address, value]))
    const puts: string[] = []
    const gone: string[] = []
    for (const [address, value] of last) {
      if (Buffer.byteLength(address) > MAX_ADDRESS_BYTES) throw new RangeError('the address of a cell is too long')
      if (value === undefined) gone.push(address)
      else puts.push(address, value)
    }
    const head = [from?.eventId ?? '', to.eventId, JSON.stringify(to), String(puts.length / 2)]
    const written = await redis.write(WRITE, [cells, order, dumps], [...head, ...puts, ...gone])
    if (written === 0) throw new CheckpointMoved('another projector was there first')
    furthest = Math.max(furthest, to.position)
  }

  async function* readDump(dump: string) {
    let after = ''
    do {
      const args = [after, String(DUMP_PAGE), String(DUMP_MS)]
      const page = (await redis.write(READ_DUMP, [cells, order, dump], args)) as [string, string[]] | null
      if (!page) throw new Unavailable(`the moment that ${redis.server} held for a dump is lost`)
      const [last, list] = page
      const found = list.flatMap((address, i) => (i % 2 ? [] : [{ address, value: list[i + 1] as string }]))
      yield* found.sort((a, b) => (a.address < b.address ? -1 : 1))
      after = last
    } while (after !== '')
  }

  return {
    checkpoint: async () => {
      const found = parse<Checkpoint>(await redis.read(client => client.hget(cells, 'checkpoint')))
      furthest = Math.max(furthest, found?.position ?? BEFORE_FIRST)
      return found
    },
    get: async <Row>(view: string, rowKey: string) => {
      const seenBefore = furthest
      const [row, position] = await redis.read(client => client.hmget(cells, rowAddress(view, rowKey), POSITION))
      expectWhole(toPosition(position), seenBefore)
      return parse<Row>(row)
    },
    getMany: async <Row>(wanted: RowAddress[]) => {
      const addresses = wanted.map(({ view, key }) => rowAddress(view, key))
      const [position, ...rows] = await redis.read(client => client.hmget(cells, POSITION, ...addresses))
      return { position: toPosition(position), rows: rows.map(row => parse<Row>(row)) }
    },

    list: async <Row>(view: string, index: string, range: Range) => {
      const byKey = index === BY_KEY
      const prefix = byKey ? rowAddress(view, '') : indexAddress(view, index, '')
      const args = [...toLexRange(prefix, range), byKey ? '' : rowAddress(view, '')]
      const seenBefore = furthest
      const [position, addresses, values, rows] = (await redis.list(LIST, [cells, order], args)) as Listed
      expectWhole(toPosition(position), seenBefore)
      return addresses.flatMap((address, i) => {
        const place = address.slice(prefix.length)
        const row = parse<Row>((rows ?? values)[i])
        return row === undefined ? [] : [{ place, key: byKey ? place : (values[i] as string), row }]
      })
    },

    commit: ({ from, to, rows, entries }: Batch) =>
      write(from, to, [
        ...rows.map(({ view, key, row }) => ({ address: rowAddress(view, key), value: row && JSON.stringify(row) })),
        ...entries.map(({ view, index, place, key }) => ({ address: indexAddress(view, index, place), value: key })),
      ]),

    lease: async (keys, holder, nowMs, untilMs) => {
      const times = [nowMs, untilMs, nowMs - CLOCKS_APART_MS].map(String)
      const taken = new Set((await redis.write(LEASE, [holders, ends], [holder, ...times, ...keys])) as string[])
      return keys.filter(wanted => taken.has(wanted))
    },
    release: async (keys, holder) => {
      await redis.write(RELEASE, [holders, ends], [holder, ...keys])
    },

    loadSnapshot: async stream => parse(await redis.read(client => client.hget(snapshots, stream))),
    saveSnapshot: async (stream, snapshot) => {
      await redis.change(client => client.hset(snapshots, stream, JSON.stringify(snapshot)))
    },
    deleteSnapshots: async () => {
      await redis.change(client => client.unlink(snapshots))
    },

    dump: async () => {
      const dump = own(`dump:${randomUUID()}`)
      const json = await redis.write(BEGIN_DUMP, [cells, dumps, dump], [String(DUMP_MS)])
      // Where the moment is lost all the same, the next page says so.
      const hold = () => redis.write(HOLD_DUMP, [dump], [String(DUMP_MS)]).catch(() => undefined)
      const timer = setInterval(hold, HOLD_EVERY_MS).unref()
      const close = () => {
        clearInterval(timer)
        redis.write(END_DUMP, [dumps, dump], []).catch(() => undefined)
      }
      return { checkpoint: parse<Checkpoint>(json as string | null), cells: readDump(dump), close }
    },

    repair: (changes, at) => write(at, at, changes),
    clear: async () => {
      await redis.write(CLEAR, [dumps, cells, order, holders, ends, snapshots], [])
      furthest = BEFORE_FIRST
    },
    close: async () => redis.close(),
  }
}

type Listed = [position: string | null, addresses: string[], values: (string | null)[], rows?: (string | null)[]]

const rowAddress = (view: string, key: string) => `${ROWS}${view}/${key}`
const indexAddress = (view: string, index: string, place: string) => `${INDEX}${view}.${index}/${place}`

const toPosition = (text: string | null | undefined) => Number(text ?? BEFORE_FIRST)

const parse = <Value>(json: string | null | undefined): Value | undefined =>
  typeof json === 'string' ? JSON.parse(json) : undefined

const toLexRange = (address: string, { prefix, after, before, newestFirst = false, limit }: Range) => {
  const [low, high] = newestFirst ? [before, after] : [after, before]
  const begin = low !== undefined && low >= prefix ? `(${address}${low}` : `[${address}${prefix}`
  const isWithin = high !== undefined && high <= prefix + LAST
  const end = `(${address}${isWithin ? high : prefix + LAST}`
  return [begin, end, newestFirst ? '1' : '', String(limit)]
}
