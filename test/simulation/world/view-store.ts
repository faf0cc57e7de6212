import { BEFORE_FIRST } from '../../../src/ports/event-log.ts'
import {
  type Batch,
  BY_KEY,
  type CellChange,
  type Checkpoint,
  CheckpointMoved,
  MAX_CLOCK_SKEW_MS,
  type Range,
  type Report,
  type RowAddress,
  type Snapshot,
  type StoredViews,
} from '../../../src/ports/view-store.ts'

/** The content of a store, which can be kept and put back later. */
export interface Content {
  checkpoint: string | undefined
  cells: Map<string, string>
  snapshots: Map<string, string>
  nodes: Map<string, string>
  leases: Map<string, { holder: string; untilMs: number }>
  reports: Map<string, Report>
}

export const emptyContent = (): Content => ({
  checkpoint: undefined,
  cells: new Map(),
  snapshots: new Map(),
  nodes: new Map(),
  leases: new Map(),
  reports: new Map(),
})

const copyOf = ({ checkpoint, cells, snapshots, nodes, leases, reports }: Content): Content => ({
  checkpoint,
  cells: new Map(cells),
  snapshots: new Map(snapshots),
  nodes: new Map(nodes),
  leases: new Map(leases),
  reports: new Map(reports),
})

const ROWS = 'rows/'

/** About that of the real stores. */
const MAX_ADDRESS_LENGTH = 2000

/** A view store in memory, for any number of processes. */
export class SimulatedViews implements StoredViews {
  #content = emptyContent()

  /** A copy of the content. Putting one back rolls the store back. */
  get content(): Content {
    return copyOf(this.#content)
  }

  set content(content: Content) {
    this.#content = copyOf(content)
  }

  /** The leases that are valid at a time. */
  leasedAt(nowMs: number): string[] {
    const valid = [...this.#content.leases].filter(([, { untilMs }]) => untilMs > nowMs)
    return valid.map(([key, { holder }]) => `${holder} still holds the lease ${key}`)
  }

  checkpoint = async () => parse<Checkpoint>(this.#content.checkpoint)

  get = async (view: string, key: string) => this.#content.cells.get(rowAddress(view, key))

  getMany = async (addresses: RowAddress[]) => ({
    position: parse<Checkpoint>(this.#content.checkpoint)?.position ?? BEFORE_FIRST,
    rows: addresses.map(({ view, key }) => this.#content.cells.get(rowAddress(view, key))),
  })

  list = async (view: string, index: string, { prefix, after, before, newestFirst, limit }: Range) => {
    const { cells } = this.#content
    const folder = index === BY_KEY ? rowAddress(view, '') : indexAddress(view, index, '')
    const [low, high] = newestFirst ? [before, after] : [after, before]
    const places = [...cells.keys()]
      .filter(address => address.startsWith(folder + prefix))
      .map(address => address.slice(folder.length))
      .filter(place => (low === undefined || place > low) && (high === undefined || place < high))
      .sort(byBytes)
    if (newestFirst) places.reverse()
    return places.slice(0, limit).map(place => {
      const key = index === BY_KEY ? place : (cells.get(folder + place) as string)
      return { place, key, row: cells.get(rowAddress(view, key)) }
    })
  }

  commit = async ({ from, to, rows, entries }: Batch<string>) =>
    this.#write(from, to, [
      ...rows.map(({ view, key, row }) => ({ address: rowAddress(view, key), value: row })),
      ...entries.map(({ view, index, place, key }) => ({ address: indexAddress(view, index, place), value: key })),
    ])

  replaceCells = async (changes: CellChange[], from: Checkpoint, to: Checkpoint) => this.#write(from, to, changes)

  lease = async (keys: string[], holder: string, nowMs: number, untilMs: number) =>
    keys.filter(key => {
      const lease = this.#content.leases.get(key)
      const isValid = lease && lease.untilMs > nowMs && lease.untilMs <= untilMs + MAX_CLOCK_SKEW_MS
      if (isValid && lease.holder !== holder) return false
      this.#content.leases.set(key, { holder, untilMs })
      return true
    })

  release = async (keys: string[], holder: string) => {
    for (const key of keys) if (this.#content.leases.get(key)?.holder === holder) this.#content.leases.delete(key)
  }

  report = async (reporter: string, text: string | undefined, nowMs: number, untilMs: number) => {
    const { reports } = this.#content
    for (const [key, report] of reports)
      if (report.untilMs <= nowMs - MAX_CLOCK_SKEW_MS || report.untilMs > untilMs + MAX_CLOCK_SKEW_MS)
        reports.delete(key)
    if (text === undefined) reports.delete(reporter)
    else reports.set(reporter, { text, untilMs })
  }

  reports = async () => [...this.#content.reports.values()]

  loadSnapshot = async (stream: string) => parse<Snapshot>(this.#content.snapshots.get(stream))

  saveSnapshot = async (stream: string, snapshot: Snapshot) => {
    this.#content.snapshots.set(stream, JSON.stringify(snapshot))
  }

  deleteSnapshots = async (stream?: string) => {
    if (stream === undefined) this.#content.snapshots.clear()
    else this.#content.snapshots.delete(stream)
  }

  loadNodes = async (keys: string[]) => keys.map(key => this.#content.nodes.get(key))

  saveNodes = async (nodes: [string, string | undefined][]) => {
    for (const [key, text] of nodes)
      if (text === undefined) this.#content.nodes.delete(key)
      else this.#content.nodes.set(key, text)
  }

  clearNodes = async () => {
    this.#content.nodes.clear()
  }

  dump = async () => {
    const { checkpoint, cells } = this.content
    const sorted = [...cells].sort(([one], [other]) => byBytes(one, other))
    return {
      checkpoint: parse<Checkpoint>(checkpoint),
      cells: (async function* () {
        for (const [address, value] of sorted) yield { view: viewOf(address), address, value }
      })(),
      close: () => undefined,
    }
  }

  clear = async () => {
    this.#content = emptyContent()
  }

  close = async () => undefined

  #write(from: Checkpoint | undefined, to: Checkpoint, changes: CellChange[]) {
    if (this.#content.checkpoint !== (from && JSON.stringify(from)))
      throw new CheckpointMoved('another projector has advanced the views')
    if (changes.some(({ address }) => address.length > MAX_ADDRESS_LENGTH))
      throw new RangeError('an address is too long')
    for (const { address, value } of changes) {
      if (value === undefined) this.#content.cells.delete(address)
      else this.#content.cells.set(address, value)
    }
    this.#content.checkpoint = JSON.stringify(to)
  }
}

const rowAddress = (view: string, key: string) => `${ROWS}${view}/${key}`
const indexAddress = (view: string, index: string, place: string) => `index/${view}.${index}/${place}`
const viewOf = (address: string) => address.split(/[/.]/, 2)[1] as string

const byBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other))

const parse = <Value>(json: string | undefined): Value | undefined =>
  json === undefined ? undefined : JSON.parse(json)
