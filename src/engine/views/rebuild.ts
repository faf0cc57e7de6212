import type { AnyEvent, Position } from '../../../schemas/recorded.ts'
import type { Clock } from '../../ports/clock.ts'
import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'
import {
  type Cell,
  type CellChange,
  type Checkpoint,
  CheckpointMoved,
  isDamaged,
  type ViewStore,
} from '../../ports/view-store.ts'
import { delay } from '../../time/timers.ts'
import type { Codec } from '../log/codec.ts'
import { type ProjectionSet, project } from './project.ts'

/** How often a rebuild starts over because the views advanced meanwhile. Each time only the new events are read. */
const MAX_ATTEMPTS = 10

/** The first attempt replays the log, and the second what was appended meanwhile, so a pause is short. */
const UNPAUSED_ATTEMPTS = 2

/** A few milliseconds of work. */
const CELLS_A_TURN = 1000

/** Opens an empty store in which views are rebuilt beside the present ones. `discard` closes and deletes it. */
export type OpenScratch = () => Promise<{ scratch: ViewStore; discard(): Promise<void> }>

export interface Rebuild {
  log: EventLog
  codec: Codec<AnyEvent>
  store: Pick<ViewStore, 'dump' | 'replaceCells'>
  projections: ProjectionSet
  /** The views to compare; all if missing. */
  views?: ReadonlySet<string>
  /** Called with the position of the replay. */
  onProgress?: (position: Position) => void
  /** If given, other work goes on between cells. */
  clock?: Clock
  /** Keeps the views from advancing until the returned function is called. */
  pause?: () => Promise<() => void>
}

/** Replays the log and resolves to the changes that would make the views match it; an intact store needs none. */
export const compareViews = async (
  rebuild: Rebuild,
  scratch: ViewStore,
): Promise<{ checkpoint: Checkpoint | undefined; changes: CellChange[] }> => {
  const { store, views, clock } = rebuild
  const actual = await store.dump()
  try {
    await replay(rebuild, scratch, actual.checkpoint?.position ?? BEFORE_FIRST)
    const expected = await scratch.dump()
    try {
      const changes: CellChange[] = []
      for await (const change of differences(
        within(views, inTurns(actual.cells, clock)),
        inTurns(expected.cells, clock),
      ))
        changes.push(change)
      return { checkpoint: actual.checkpoint, changes }
    } finally {
      expected.close()
    }
  } finally {
    actual.close()
  }
}

/**
 * Rebuilds views from the log in a scratch store while the old ones stay readable, then writes all differences in one
 * step. Resolves to the changes.
 */
export const rebuildViews = async (rebuild: Rebuild & { openScratch: OpenScratch }): Promise<CellChange[]> => {
  const { store, projections, openScratch } = rebuild
  const { scratch, discard } = await openScratch()
  try {
    for (let attempt = 1; ; attempt++) {
      const resume = attempt > UNPAUSED_ATTEMPTS ? await rebuild.pause?.() : undefined
      try {
        const { checkpoint, changes } = await compareViews(rebuild, scratch)
        // A projector rebuilds views that were emptied or damaged.
        if (!checkpoint || isDamaged(checkpoint)) return changes
        const replacements = (checkpoint.replacements ?? 0) + 1
        await store.replaceCells(changes, checkpoint, { ...checkpoint, versions: projections.versions, replacements })
        return changes
      } catch (error) {
        if (!(error instanceof CheckpointMoved) || attempt === MAX_ATTEMPTS) throw error
      } finally {
        resume?.()
      }
    }
  } finally {
    await discard()
  }
}

/** Brings the scratch store up to a position from its checkpoint. */
const replay = async ({ log, codec, projections, views, onProgress }: Rebuild, scratch: ViewStore, upTo: Position) => {
  const replayed = views ? projections.only(views) : projections
  let checkpoint = await scratch.checkpoint()
  for await (const page of log.readAll(checkpoint?.position ?? BEFORE_FIRST)) {
    const events = page.filter(({ position }) => position <= upTo).map(raw => codec.decode(raw))
    if (events.length === 0) return
    checkpoint = (await project(scratch, replayed, checkpoint, events)).checkpoint
    onProgress?.(checkpoint.position)
  }
}

/** All cells may be there at once, and other work must not wait for all of them. */
async function* inTurns(cells: AsyncIterable<Cell>, clock: Clock | undefined): AsyncGenerator<Cell> {
  let count = 0
  for await (const cell of cells) {
    count += 1
    if (clock && count % CELLS_A_TURN === 0) await delay(clock, 0)
    yield cell
  }
}

async function* within(views: ReadonlySet<string> | undefined, cells: AsyncIterable<Cell>): AsyncGenerator<Cell> {
  for await (const cell of cells) if (!views || views.has(cell.view)) yield cell
}

/** Compares two lists of cells, both in order of address. */
async function* differences(actual: AsyncIterable<Cell>, expected: AsyncIterable<Cell>): AsyncGenerator<CellChange> {
  const left = actual[Symbol.asyncIterator]()
  const right = expected[Symbol.asyncIterator]()
  let is = await left.next()
  let should = await right.next()
  while (!is.done || !should.done) {
    if (!is.done && (should.done || is.value.address < should.value.address)) {
      yield { address: is.value.address, value: undefined }
      is = await left.next()
    } else if (!should.done && (is.done || should.value.address < is.value.address)) {
      yield should.value
      should = await right.next()
    } else if (!is.done && !should.done) {
      if (is.value.value !== should.value.value) yield should.value
      is = await left.next()
      should = await right.next()
    }
  }
}
