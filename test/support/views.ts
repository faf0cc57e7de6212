import type { Test } from 'tap'
import { projections as all } from '../../projections/all.ts'
import type { Projection } from '../../projections/projection.ts'
import { systemClock } from '../../src/adapters/clock/system.ts'
import { openScratchViews } from '../../src/boot/stores.ts'
import { CheckpointPoller } from '../../src/engine/views/checkpoint-poller.ts'
import { ProjectionSet } from '../../src/engine/views/project.ts'
import { Projector, type ProjectorDependencies } from '../../src/engine/views/projector.ts'
import { Reads as ViewReads } from '../../src/engine/views/reads.ts'
import { compareViews, type OpenScratch, type Rebuild, rebuildViews } from '../../src/engine/views/rebuild.ts'
import { ViewProgress } from '../../src/engine/views/view-progress.ts'
import type { EventLog } from '../../src/ports/event-log.ts'
import type { Logger } from '../../src/ports/logger.ts'
import type { CellChange, ViewStore } from '../../src/ports/view-store.ts'
import type { AccountMailboxes } from '../../src/services/accounts/account-mailboxes.ts'
import { eventCodec } from '../../src/services/event-codec.ts'
import type { Reads } from '../../src/services/views/reads.ts'
import { authentic, openViews, projections, silentLogger } from './engine.ts'

export const openScratch = async () => {
  const { scratch, discard } = await openScratchViews()
  return { scratch: authentic(scratch), discard }
}

/** A projector that the test starts and stops, with its progress. */
export const projectorOf = (
  log: EventLog,
  store: ViewStore,
  logger: Logger = silentLogger,
  of: readonly Projection[] = all,
  more: Pick<ProjectorDependencies, 'rebuildsFirst'> & { openScratch?: OpenScratch } = {},
): Projector & { progress: ViewProgress } => {
  const parts = {
    log,
    codec: eventCodec,
    store,
    projections: new ProjectionSet(of),
    clock: systemClock,
    logger,
    openScratch,
    ...more,
  }
  const progress = new ViewProgress(parts)
  return Object.assign(new Projector({ ...parts, progress }), { progress })
}

/** A follower of views that others keep, with its progress. */
export const followerOf = (log: EventLog, store: ViewStore): CheckpointPoller & { progress: ViewProgress } => {
  const parts = { log, store, projections, clock: systemClock }
  const progress = new ViewProgress(parts)
  return Object.assign(new CheckpointPoller({ ...parts, progress, logger: silentLogger }), { progress })
}

export const readsOf = (store: ViewStore, progress: ViewProgress, ownWrites: AccountMailboxes): Reads =>
  new ViewReads({ store, progress, ownWrites, cached: ['accounts', 'balance'], onMissing: () => undefined })

/** The cells of a store that differ from a replay of the log. */
export const differences = async (t: Test, log: EventLog, store: ViewStore): Promise<CellChange[]> =>
  (await compareViews(rebuildOf(log, store), await openViews(t))).changes

/** Rebuilds all views, in a scratch store of its own or in the one given. */
export const rebuild = (log: EventLog, store: ViewStore, scratch?: ViewStore): Promise<CellChange[]> =>
  rebuildViews({
    ...rebuildOf(log, store),
    openScratch: scratch ? async () => ({ scratch, discard: async () => undefined }) : openScratch,
  })

export const rebuildOf = (log: EventLog, store: ViewStore): Rebuild => ({ log, codec: eventCodec, store, projections })
