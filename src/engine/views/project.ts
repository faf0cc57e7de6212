import { PROJECTIONS_VERSION, projections } from '../../../projections/all.ts'
import type { Projection } from '../../../projections/projection.ts'
import type { Recorded } from '../../../schemas/recorded.ts'
import type { ViewName, Views } from '../../../schemas/views.ts'
import { BEFORE_FIRST } from '../../ports/event-log.ts'
import {
  type Checkpoint,
  CheckpointMoved,
  type EntryChange,
  type RowChange,
  type ViewStore,
} from '../../ports/view-store.ts'
import { checkOrder } from '../log/check-order.ts'

type Row = Views[ViewName] | undefined

/** A row that a page of events touches: as it was, and as it is so far. */
interface Touched {
  projection: Projection
  key: string
  before: Row
  now: Row
}

/**
 * Folds a page of events into the views, and commits rows and checkpoint together. Rejects with CheckpointMoved, and
 * with Unavailable for events that do not follow the checkpoint in order.
 */
export const project = async (
  store: ViewStore,
  from: Checkpoint | undefined,
  events: Recorded[],
): Promise<{ checkpoint: Checkpoint; rows: RowChange[] }> => {
  const [first, last] = [events[0], events.at(-1)]
  if (!first || !last) throw new RangeError('there is nothing to project')
  checkOrder(events, from?.position ?? BEFORE_FIRST)
  const { steps, touched } = plan(events)
  const { position, rows: loaded } = await store.getMany<Row>(
    touched.map(({ projection, key }) => ({ view: projection.view, key })),
  )
  // Rows of another moment may already hold these events.
  if (position !== (from?.position ?? BEFORE_FIRST)) throw new CheckpointMoved('the views are not where they were')
  touched.forEach((row, index) => {
    row.before = loaded[index]
    row.now = loaded[index]
  })
  for (const { event, row } of steps) row.now = row.projection.evolve(row.now, event, row.key)

  const rows: RowChange[] = []
  const entries: EntryChange[] = []
  for (const { projection, key, before, now } of touched) {
    if (before === now) continue
    rows.push({ view: projection.view, key, row: now })
    moveEntries(entries, projection, key, before, now)
  }
  const checkpoint = {
    position: last.position,
    eventId: last.id,
    origin: from?.origin ?? first.id,
    version: PROJECTIONS_VERSION,
  }
  await store.commit({ from, to: checkpoint, rows, entries })
  return { checkpoint, rows }
}

/** Which row each event changes, in the order of the log, each row once. */
const plan = (events: Recorded[]) => {
  const steps: { event: Recorded; row: Touched }[] = []
  const touched = new Map<string, Touched>()
  for (const event of events)
    for (const projection of projections)
      for (const key of projection.keys(event)) {
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
