import { SealSinkReactor, type SinkWatcher } from '../reactors/upkeep/seal-sink.ts'
import { SealsReactor } from '../reactors/upkeep/seals.ts'
import type { SealStream } from '../services/seals/seal-stream.ts'
import { Sealer } from '../services/seals/sealer.ts'
import { TreeStore } from '../services/seals/tree-store.ts'
import type { Core } from './core.ts'
import { readSealKeys } from './seal-keys.ts'
import { openSealSinks } from './stores.ts'

/** What seals the log, and copies the seals to the sinks. */
export const openSealing = async (core: Core, seals: SealStream, watcher: SinkWatcher) => [
  openSealsReactor(core, seals),
  ...(await openSinkReactors(core, watcher)),
]

const openSealsReactor = ({ config, log, views, clock, logger }: Core, seals: SealStream): SealsReactor => {
  const { maxEvents, maxAgeMs } = config.seals
  const parts = { log, seals, trees: new TreeStore({ views, clock }), clock, logger, maxEvents, maxAgeMs }
  return new SealsReactor({ log, sealer: new Sealer({ ...parts, ...readSealKeys(config.seals) }), clock, logger })
}

const openSinkReactors = async (
  { config, log, clock, logger }: Core,
  watcher: SinkWatcher,
): Promise<SealSinkReactor[]> =>
  (await openSealSinks(config)).map(sink => new SealSinkReactor({ log, sink, watcher, clock, logger }))
