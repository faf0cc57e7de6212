import type { Projection } from '../../../projections/projection.ts'
import type { Position, Recorded } from '../../../schemas/recorded.ts'
import { BEFORE_FIRST } from '../../ports/event-log.ts'
import {
  BY_KEY,
  type Checkpoint,
  CheckpointMoved,
  type Entry,
  type EntryChange,
  type RowChange,
  type ViewStore,
} from '../../ports/view-store.ts'
import { checkOrder } from '../log/follow.ts'

/** Rows hold the position of the last event folded into them. */
type Row = { position?: Position } | undefined

/** A row that no service wrote. It is left alone until the views are rebuilt, or a wrong row would be signed. */
type Forged = null

/** A row that a page of events touches, before the page and so far. */
interface Touched {
  projection: Projection
  key: string
  before: Row | Forged
  now: Row
}

/**
 * Folds a page of events into the views, and commits rows and checkpoint together. Skips events that a row already
 * includes, because the checkpoint may have been set back. Rejects with CheckpointMoved, or with Unavailable for events
 * that do not follow the checkpoint in order.
 */
export const project = async (
  store: ViewStore,
  projections: ProjectionSet,
  from: Checkpoint | undefined,
  events: Recorded[],
): Promise<{ checkpoint: Checkpoint; rows: RowChange[] }> => {
  const [first, last] = [events[0], events.at(-1)]
  if (!first || !last) throw new RangeError('there is nothing to project')
  checkOrder(events, from?.position ?? BEFORE_FIRST)
  const { steps, touched } = plan(projections, events)
  const { position, rows: loaded } = await store.getMany<NonNullable<Row>>(
    touched.map(({ projection, key }) => ({ view: projection.view, key })),
  )
  // Rows at another position may already include these events.
  if (position !== (from?.position ?? BEFORE_FIRST)) throw new CheckpointMoved('the checkpoint of the views has moved')
  touched.forEach((row, index) => {
    row.before = loaded[index]
    row.now = loaded[index] ?? undefined
  })
  for (const { event, row } of steps) {
    if (row.before === null || event.position <= (row.before?.position ?? BEFORE_FIRST)) continue
    const after = row.projection.on[event.type]?.(row.now, event, row.key)
    // Set at every event, or the order of a row's fields would depend on how the events were paged.
    row.now = after && after !== row.now ? { ...after, position: event.position } : after
  }

  const rows: RowChange[] = []
  const entries: EntryChange[] = []
  for (const { projection, key, before, now } of touched) {
    if (before === null || before === now) continue
    rows.push({ view: projection.view, key, row: now })
    moveEntries(entries, projection, key, before, now)
  }
  const checkpoint = {
    position: last.position,
    eventId: last.id,
    origin: from?.origin ?? first.id,
    versions: from?.versions ?? projections.versions,
    ...(from?.replacements && { replacements: from.replacements }),
  }
  await store.commit({ from, to: checkpoint, rows, entries })
  return { checkpoint, rows }
}

/** The rows that each event changes, in log order, and each row once. */
const plan = (projections: ProjectionSet, events: Recorded[]) => {
  const steps: { event: Recorded; row: Touched }[] = []
  const touched = new Map<string, Touched>()
  for (const event of events)
    for (const projection of projections.handling(event.type))
      for (const key of [projection.key(event) ?? []].flat()) {
        const address = `${projection.view}/${key}`
        let row = touched.get(address)
        if (!row) {
          row = { projection, key, before: undefined, now: undefined }
          touched.set(address, row)
        }
        steps.push({ event, row })
      }
  return { steps, touched: [...touched.values()] }
}

const moveEntries = (entries: EntryChange[], { view, indexes }: Projection, key: string, before: Row, now: Row) => {
  for (const [index, placeOf] of Object.entries(indexes)) {
    const oldPlace = before && placeOf(before, key)
    const place = now && placeOf(now, key)
    if (oldPlace === place) continue
    if (oldPlace !== undefined) entries.push({ view, index, place: oldPlace, key: undefined })
    if (place !== undefined) entries.push({ view, index, place, key })
  }
}

/** For each view, the versions of the projections that make it. */
type ViewVersions = Readonly<Record<string, string>>

/** In place of the version of a view that is being rebuilt. */
const REBUILDING = 'rebuilding'

/** Projections by the event types that they handle. */
export class ProjectionSet {
  readonly versions: ViewVersions
  readonly #projections: readonly Projection[]
  readonly #byType = new Map<string, Projection[]>()

  constructor(projections: readonly Projection[]) {
    this.#projections = projections
    const versions: Record<string, string> = {}
    for (const projection of projections) {
      const { name, view, version } = projection
      versions[view] = [versions[view] ?? [], `${name} ${version}`].flat().join(', ')
      for (const type of Object.keys(projection.on)) this.#byType.set(type, [...this.handling(type), projection])
    }
    this.versions = versions
  }

  handling(type: string): readonly Projection[] {
    return this.#byType.get(type) ?? []
  }

  /** Whether an entry of an index is at the place of its row. */
  hasPlace(view: string, index: string, { place, key, row }: Entry<object>): boolean {
    if (index === BY_KEY) return place === key
    return this.#projections.some(each => each.view === view && each.indexes[index]?.(row, key) === place)
  }

  /** The projections that make these views. */
  only(views: ReadonlySet<string>): ProjectionSet {
    return new ProjectionSet(this.#projections.filter(({ view }) => views.has(view)))
  }

  /** The projections that make no view of these. */
  without(views: ReadonlySet<string>): ProjectionSet {
    return views.size === 0 ? this : new ProjectionSet(this.#projections.filter(({ view }) => !views.has(view)))
  }

  /** The versions of views while some are rebuilt, which makes these unreadable for every process. */
  markRebuilding(versions: ViewVersions, views: ReadonlySet<string>): ViewVersions {
    const all = { ...versions, ...this.versions }
    return Object.fromEntries(Object.entries(all).map(([view, each]) => [view, views.has(view) ? REBUILDING : each]))
  }

  /** Whether views are only rebuilt, and none is of another version. */
  areOwn(versions: ViewVersions): boolean {
    return [...this.outdated(versions)].every(view => versions[view] === REBUILDING)
  }

  /** The views that other versions of their projections built, and those that only other versions know. */
  outdated(versions: ViewVersions = {}): Set<string> {
    const views = new Set([...Object.keys(versions), ...Object.keys(this.versions)])
    return new Set([...views].filter(view => versions[view] !== this.versions[view]))
  }
}
