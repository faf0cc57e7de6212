import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLmdbEventLog } from '../adapters/event-log/lmdb.ts'
import { openLmdbEventLogReadOnly } from '../adapters/event-log/lmdb-read-only.ts'
import { openDiskObjectStore } from '../adapters/object-store/disk.ts'
import { openLmdbViewStore } from '../adapters/view-store/lmdb.ts'
import type { OpenScratch } from '../engine/views/rebuild.ts'
import type { EventLog, ReadableLog } from '../ports/event-log.ts'
import type { Logger } from '../ports/logger.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { ViewStore } from '../ports/view-store.ts'
import type { Addresses } from '../services/addresses.ts'
import { deriveKey } from '../services/derive-key.ts'
import type { Config } from './config.ts'

// Clients of other servers are loaded only if needed, because they take a large part of a process's start-up time.

export const openLog = async ({ eventStore }: Config, logger: Logger): Promise<EventLog> => {
  if (eventStore.kind === 'eventstoredb') {
    const { openEventStoreLog } = await import('../adapters/event-log/eventstoredb.ts')
    return openEventStoreLog({ address: eventStore.address })
  }
  return openLmdbEventLog(eventStore.folder, error => {
    logger.fatal(
      { err: error },
      'a commit to the event log failed; ending the process so that the next one reads what was written',
    )
    process.exit(1)
  })
}

/** Opens the log without writing to it. `isDense` says whether its positions have no gaps. */
export const openLogReadOnly = async ({ eventStore }: Config): Promise<{ log: ReadableLog; isDense: boolean }> => {
  if (eventStore.kind === 'lmdb') return { log: openLmdbEventLogReadOnly(eventStore.folder), isDense: true }
  const { openEventStoreLog } = await import('../adapters/event-log/eventstoredb.ts')
  return { log: openEventStoreLog({ address: eventStore.address }), isDense: false }
}

export const openViews = async ({ viewStore }: Config, logger: Logger): Promise<ViewStore> => {
  if (viewStore.kind === 'lmdb') return openLmdbViewStore(viewStore.folder)
  const { openRedisViewStore } = await import('../adapters/view-store/redis.ts')
  return openRedisViewStore({
    ...viewStore,
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
      putSecret: deriveKey(masterSecret, 'upload-addresses').toString('hex'),
      putUrl: () => addresses.ownUrl,
    })
  const { openS3ObjectStore } = await import('../adapters/object-store/s3.ts')
  return openS3ObjectStore({
    ...objectStore,
    retention,
    onWarning: error => logger.warn({ err: error }, 'the object store may keep files without an owner forever'),
  })
}

/** Opens an empty view store in a temporary folder. */
export const openScratchViews: OpenScratch = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-views-'))
  const scratch = openLmdbViewStore(folder)
  const discard = async () => {
    await scratch.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { scratch, discard }
}
