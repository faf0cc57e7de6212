import { BEFORE_FIRST, type EventLog } from '../../ports/event-log.ts'
import { type Cell, type CellChange, type Checkpoint, CheckpointMoved, type ViewStore } from '../../ports/view-store.ts'
import { decode } from '../log/codec.ts'
import { project } from './project.ts'

/** How often a repair begins anew because the views went on meanwhile. Each time only the new events are read. */
const MAX_ATTEMPTS = 10

/** Called with the position that a replay has reached. */
export type Progress = (position: number) => void

/** What would have to change in the views for them to be what the log says; nothing in a sound store. */
export const compareViews = async (
  log: EventLog,
  views: ViewStore,
  scratch: ViewStore,
  progress: Progress = () => undefined,
): Promise<{ checkpoint: Checkpoint | undefined; changes: CellChange[] }> => {
  const actual = await views.dump()
  try {
    await replay(log, scratch, actual.checkpoint?.position ?? BEFORE_FIRST, progress)
    const wanted = await scratch.dump()
    try {
      const changes: CellChange[] = []
      for await (const change of differences(actual.cells, wanted.cells)) changes.push(change)
      return { checkpoint: actual.checkpoint, changes }
    } finally {
      wanted.close()
    }
  } finally {
    actual.close()
  }
}

/**
 * Builds the views anew from the log beside the old ones, which are read meanwhile, and then makes all that differs as
 * it should be in one step. Resolves to what was changed.
 */
export const rebuildViews = async (
  log: EventLog,
  views: ViewStore,
  scratch: ViewStore,
  progress?: Progress,
): Promise<CellChange[]> => {
  await views.deleteSnapshots()
  for (let attempt = 1; ; attempt++) {
    const { checkpoint, changes } = await compareViews(log, views, scratch, progress)
    if (!checkpoint || changes.length === 0) return changes
    try {
      await views.repair(changes, checkpoint)
      return changes
    } catch (error) {
      if (!(error instanceof CheckpointMoved) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** Brings a store up to a position, from where it is. */
const replay = async (log: EventLog, store: ViewStore, upTo: number, progress: Progress) => {
  let checkpoint = await store.checkpoint()
  for await (const page of log.readAll(checkpoint?.position ?? BEFORE_FIRST)) {
    const events = page.filter(raw => raw.position <= upTo).map(raw => decode(raw))
    if (events.length === 0) return
    checkpoint = (await project(store, checkpoint, events)).checkpoint
    progress(checkpoint.position)
  }
}

/** Walks two lists of cells, both by rising address, side by side. */
async function* differences(actual: AsyncIterable<Cell>, wanted: AsyncIterable<Cell>): AsyncGenerator<CellChange> {
  const left = actual[Symbol.asyncIterator]()
  const right = wanted[Symbol.asyncIterator]()
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
