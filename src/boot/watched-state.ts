import { statfs } from 'node:fs/promises'
import { queues } from '../../projections/due.ts'
import type { RawEvent } from '../../schemas/recorded.ts'
import type { ViewProgress } from '../engine/views/view-progress.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { QueueState, WatchedState } from '../ports/metrics.ts'
import type { ViewStore } from '../ports/view-store.ts'
import { countDue } from '../reactors/due-counts.ts'
import type { ProviderPermits } from '../reactors/runs/provider-permits.ts'
import type { CircuitBreakers } from '../services/providers/circuit-breakers.ts'
import type { Config } from './config.ts'

/** Events that are counted in a log whose positions have gaps. */
const MAX_COUNTED_EVENTS = 1000

interface Dependencies {
  config: Config
  log: EventLog
  views: ViewStore
  progress: ViewProgress
  breakers: CircuitBreakers
  permits: ProviderPermits
  clock: Clock
  providers: string[]
  maxCalls: number
}

/** The state of a process that its metrics show. */
export const watchedState = (dependencies: Dependencies): Omit<WatchedState, 'connections'> => {
  const { config, breakers, permits, providers, maxCalls } = dependencies
  // Processes with this role share the due work, and each shows all of it.
  const hasReactors = config.roles.has('reactors')
  return {
    ...(hasReactors && { queues: () => queueStates(dependencies) }),
    projectorLag: () => projectorLag(dependencies),
    openBreakers: () => breakers.openBreakers(),
    callsInFlight: () => providers.map(provider => ({ provider, calls: permits.countCalls(provider), maxCalls })),
    freeBytes: () => freeBytes(config),
  }
}

const { start, watch, cancel, deliver, objects, notices } = queues

const queueStates = (dependencies: Dependencies): Promise<QueueState[]> =>
  Promise.all(
    [start, watch, cancel, deliver, objects, notices].map(async prefix => ({
      queue: prefix.slice(0, -1),
      ...(await countDue(dependencies, prefix)),
    })),
  )

const projectorLag = async ({ config, log, progress, clock }: Dependencies) => {
  const { position } = progress
  const behind = (await log.head()) - position
  let events = 0
  let oldest: RawEvent | undefined
  if (behind > 0)
    for await (const page of log.readAll(position)) {
      oldest ??= page[0]
      events += page.length
      // The positions of the embedded log have no gaps.
      if (config.eventStore.kind === 'lmdb') events = behind
      if (events >= MAX_COUNTED_EVENTS || config.eventStore.kind === 'lmdb') break
    }
  const { at } = (oldest?.metadata ?? {}) as { at?: string }
  return { events, seconds: at === undefined ? 0 : Math.max(0, (clock.nowMs() - Date.parse(at)) / 1000) }
}

const freeBytes = ({ dataDir, eventStore, objectStore }: Config) => {
  const log = eventStore.kind === 'lmdb' ? eventStore.folder : dataDir
  const folders = [
    { store: 'log', folder: log },
    ...(objectStore.kind === 'disk' ? [{ store: 'objects', folder: objectStore.folder }] : []),
  ]
  return Promise.all(
    folders.map(async ({ store, folder }) => {
      const { bavail, bsize } = await statfs(folder)
      return { store, bytes: bavail * bsize }
    }),
  )
}
