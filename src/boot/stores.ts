import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECTIONS_VERSION } from '../../projections/all.ts'
import { openLmdbEventLog } from '../adapters/event-log/lmdb.ts'
import { openDiskObjectStore } from '../adapters/object-store/disk.ts'
import { openLmdbViewStore } from '../adapters/view-store/lmdb.ts'
import type { EventLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { ViewStore } from '../ports/view-store.ts'
import type { Addresses } from '../services/addresses.ts'
import type { Config } from './config.ts'
import { deriveSecret } from './master-secret.ts'

// What talks to other servers is loaded where it is wanted: it takes a good part of the time in which a process starts.

export const openLog = async ({ eventStore }: Config, logger: Logger): Promise<EventLog> => {
  if (eventStore.kind === 'eventstoredb') {
    const { openEventStoreLog } = await import('../adapters/event-log/eventstoredb.ts')
    return openEventStoreLog({ address: eventStore.address })
  }
  return openLmdbEventLog(eventStore.folder, error => {
    logger.fatal(
      { err: error },
      'a commit to the event log failed; the process ends so that a new one reads what is there',
    )
    process.exit(1)
  })
}

export const openViews = async ({ viewStore }: Config, logger: Logger): Promise<ViewStore> => {
  if (viewStore.kind === 'lmdb') return openLmdbViewStore(viewStore.folder)
  const { openRedisViewStore } = await import('../adapters/view-store/redis.ts')
  return openRedisViewStore({
    ...viewStore,
    version: PROJECTIONS_VERSION,
    onWarning: error => logger.warn({ err: error }, 'the views may be lost'),
  })
}

export const openObjects = async (
  config: Config,
  logger: Logger,
  addresses: Addresses,
  masterSecret: string,
): Promise<ObjectStore> => {
  const { objectStore, retention } = config
  if (objectStore.kind === 'disk')
    return openDiskObjectStore({
      folder: objectStore.folder,
      putSecret: deriveSecret(masterSecret, 'upload-addresses'),
      putUrl: () => addresses.ownUrl,
    })
  const { openS3ObjectStore } = await import('../adapters/object-store/s3.ts')
  return openS3ObjectStore({
    ...objectStore,
    retention,
    onWarning: error => logger.warn({ err: error }, 'the object store may keep what nobody owns for ever'),
  })
}

/** An empty view store in a folder of its own, and the way to be rid of it. */
export const openScratchViews = async (): Promise<{ scratch: ViewStore; discard: () => Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-views-'))
  const scratch = openLmdbViewStore(folder)
  const discard = async () => {
    await scratch.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { scratch, discard }
}
