import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { SealSinkReactor, type SinkWatcher } from '../reactors/upkeep/seal-sink.ts'
import { SealsReactor } from '../reactors/upkeep/seals.ts'
import { parseSealKey, type SealKey } from '../services/seals/seal-key.ts'
import type { SealStream } from '../services/seals/seal-stream.ts'
import { Sealer } from '../services/seals/sealer.ts'
import { TreeStore } from '../services/seals/tree-store.ts'
import { type Config, ConfigError } from './config.ts'
import type { Core } from './core.ts'
import { readKeptFile } from './master-secret.ts'
import { openSealSinks } from './stores.ts'

/** Opens the reactors that seal the log and copy the seals to the sinks. */
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

/** The key that signs seals, and the previous key. Throws ConfigError if one of them is not a key. */
export const readSealKeys = ({ key, previousKeyFile }: Config['seals']): { key: SealKey; previousKey?: SealKey } => {
  const previous = previousKeyFile === undefined ? {} : { previousKey: read('SEAL_PREVIOUS_KEY_FILE', previousKeyFile) }
  return { key: readKey(key), ...previous }
}

const readKey = (source: Config['seals']['key']): SealKey => {
  if (source.kind === 'given') return parse('SEAL_KEY', source.pem)
  if (source.kind === 'file') return read('SEAL_KEY_FILE', source.path)
  return parse(source.path, readKeptFile(source.path, newKey), { isDevelopment: true })
}

const read = (name: string, path: string): SealKey => {
  try {
    return parse(name, readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${name} cannot be read (${(error as Error).message}).`)
  }
}

const parse = (name: string, pem: string, { isDevelopment = false } = {}): SealKey => {
  try {
    return parseSealKey(pem, { isDevelopment })
  } catch (error) {
    throw new ConfigError(`${name}: ${(error as Error).message}.`)
  }
}

const newKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
