import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Position } from '../../schemas/recorded.ts'
import { openLmdbEventLog } from '../adapters/event-log/lmdb.ts'
import { openLmdbEventLogReadOnly } from '../adapters/event-log/lmdb-read-only.ts'
import type { Signal } from '../adapters/event-log/signal.ts'
import type { LmdbOptions } from '../adapters/lmdb/environment.ts'
import { openDiskObjectStore } from '../adapters/object-store/disk.ts'
import { proxyFetch, proxyFor } from '../adapters/outbound/proxy.ts'
import { createOutbound } from '../adapters/outbound/undici.ts'
import { systemRandom } from '../adapters/random/system.ts'
import { openFileSealSink } from '../adapters/seal-sink/file.ts'
import { openHttpsSealSink } from '../adapters/seal-sink/https.ts'
import { openLmdbViewStore } from '../adapters/view-store/lmdb.ts'
import { openRecoverableViews } from '../adapters/view-store/lmdb-recovery.ts'
import { sha256 } from '../domain/digest.ts'
import type { EventLog, ReadableLog } from '../ports/event-log.ts'
import { Damaged } from '../ports/faults.ts'
import type { IdentityProvider } from '../ports/identity-provider.ts'
import type { Logger } from '../ports/logger.ts'
import type { Mailer } from '../ports/mailer.ts'
import type { ObjectStore } from '../ports/object-store.ts'
import type { Random } from '../ports/random.ts'
import type { RateCounter } from '../ports/rate-counter.ts'
import type { SealSink } from '../ports/seal-sink.ts'
import type { StoredViews } from '../ports/view-store.ts'
import { deriveKey } from '../services/derive-key.ts'
import { Addresses } from '../services/files/addresses.ts'
import { Vault } from '../services/vault/vault.ts'
import { type Config, ConfigError } from './config.ts'

// Clients of other servers are loaded only when they are needed, because loading them takes much of a process's start.

/** `appended`: see `openLmdbEventLog`. A server needs none: it reports each append to its followers at once. */
export const openLog = async (
  { eventStore }: Pick<Config, 'eventStore'>,
  logger: Logger,
  appended?: Signal<Position>,
): Promise<EventLog> => {
  if (eventStore.kind === 'eventstoredb') {
    const { openEventStoreLog } = await import('../adapters/event-log/eventstoredb.ts')
    return openEventStoreLog({ address: eventStore.address })
  }
  const die = (error: Error) => {
    logger.fatal(
      { err: error },
      'a commit to the event log failed; stopping the process, so that the next process reads what was written',
    )
    process.exit(1)
  }
  return openLmdbEventLog(eventStore.folder, die, { appended, isShared: eventStore.isShared })
}

/** Opens the log without writing to it. `isDense` says whether its positions have no gaps. */
export const openLogReadOnly = async ({
  eventStore,
}: Pick<Config, 'eventStore'>): Promise<{ log: ReadableLog; isDense: boolean }> => {
  if (eventStore.kind === 'lmdb') return { log: openLmdbEventLogReadOnly(eventStore.folder), isDense: true }
  const { openEventStoreLog } = await import('../adapters/event-log/eventstoredb.ts')
  return { log: openEventStoreLog({ address: eventStore.address }), isDense: false }
}

export const openViews = async (
  { viewStore }: Pick<Config, 'viewStore'>,
  logger: Logger,
  check?: LmdbOptions['check'],
): Promise<StoredViews> => {
  if (viewStore.kind === 'lmdb')
    return openRecoverableViews({
      folder: viewStore.folder,
      check,
      onDamage: ({ message }) => logger.warn({ reason: message }, 'the views are damaged; rebuilding them'),
    })
  const { openRedisViewStore } = await import('../adapters/view-store/redis.ts')
  return openRedisViewStore({
    ...viewStore,
    onWarning: error => logger.warn({ err: error }, 'Redis may evict the views'),
  })
}

/** Opens the counter of requests. Processes that share the views share the counter. */
export const openRateCounter = async ({ viewStore, workers }: Config, logger: Logger): Promise<RateCounter> => {
  const { countInMemory, countInPrimary, countInRedis } = await import('../adapters/rate-counter/flexible.ts')
  if (viewStore.kind === 'lmdb') return workers > 1 ? countInPrimary() : countInMemory()
  return countInRedis({
    ...viewStore,
    onAway: error =>
      logger.warn(
        { err: error },
        'Redis is not available; this process counts requests separately until Redis is back',
      ),
    onBack: () => logger.info({}, 'Redis is back; processes count requests together again'),
  })
}

/** Makes this process count the requests of its workers. */
export const countForWorkers = async () => (await import('../adapters/rate-counter/flexible.ts')).countForWorkers()

export const openObjects = async (
  config: Pick<Config, 'objectStore' | 'retention'>,
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
    onWarning: error =>
      logger.warn(
        { err: error },
        'lifecycle rules could not be set, so the object store may keep files without an owner forever',
      ),
  })
}

/** The keys of accounts. The object store is opened when the first one is needed. */
export const openVault = (
  config: Pick<Config, 'objectStore' | 'retention'>,
  logger: Logger,
  masterSecret: string,
  { random = systemRandom, objects: given }: { random?: Random; objects?: ObjectStore } = {},
): Vault => {
  let opened: Promise<ObjectStore> | undefined
  const objects = async () => {
    // Nobody sends keys to addresses.
    opened ??= given ? Promise.resolve(given) : openObjects(config, logger, new Addresses(() => ''), masterSecret)
    return opened.catch(error => {
      opened = undefined
      throw error
    })
  }
  return new Vault({ objects, close: async () => given ?? (await opened)?.close(), masterSecret, random })
}

export const openMailer = async ({ mail, proxy }: Config): Promise<Mailer> => {
  if (mail.kind === 'smtp') {
    const { openSmtpMailer } = await import('../adapters/mailer/smtp.ts')
    const { protocol, hostname, port } = new URL(mail.url)
    const defaultPort = protocol === 'smtps:' ? 465 : 587
    return openSmtpMailer({ ...mail, proxy: proxyFor(proxy, hostname, Number(port || defaultPort)) })
  }
  const { openOutbox } = await import('../adapters/mailer/outbox.ts')
  return openOutbox(mail)
}

/** Sign-in with Telegram; undefined if it is off. */
export const openIdentityProvider = async ({ telegram, proxy }: Config): Promise<IdentityProvider | undefined> => {
  if (!telegram) return undefined
  const { openTelegram } = await import('../adapters/identity-provider/telegram.ts')
  return openTelegram({ ...telegram, fetch: proxy && proxyFetch(proxy) })
}

/** Sales through Stripe; undefined if they are off. Loads the package of Stripe only if they are on. */
export const openPayments = async ({ payments, proxy }: Pick<Config, 'payments' | 'proxy'>) => {
  if (!payments) return undefined
  const { openStripe } = await import('../adapters/payments/stripe.ts')
  return openStripe({ ...payments, fetch: proxy && proxyFetch(proxy) })
}

/** Opens the sinks of seals. Checks the sinks on this machine. */
export const openSealSinks = async ({ seals, objectStore, dataDir, proxy }: Config): Promise<SealSink[]> =>
  Promise.all(
    seals.sinks.map(async sink => {
      if (sink.kind === 'file') {
        const opened = openFileSealSink(sink.path)
        // Reports a wrong path now instead of with the first seal.
        await opened.last().catch(({ message }) => {
          throw new ConfigError(`SEAL_SINK names a file that cannot be used: ${message}.`)
        })
        return opened
      }
      if (sink.kind === 'https') {
        const memory = join(dataDir, 'seal-sinks', `${sha256(sink.url)}.json`)
        // The operator chose the receiver, which may be in a private network.
        return openHttpsSealSink({ url: sink.url, outbound: createOutbound({ allowPrivate: true, proxy }), memory })
      }
      const { openS3SealSink } = await import('../adapters/object-store/s3-seal-sink.ts')
      const { kind, publicUrl, stagingFolder, ...server } = objectStore as Extract<typeof objectStore, { kind: 's3' }>
      return openS3SealSink({ ...server, bucket: sink.bucket, prefix: sink.prefix })
    }),
  )

/** Opens an empty view store in a temporary folder inside another. */
export const openScratchViews = async (
  parent = tmpdir(),
): Promise<{ scratch: StoredViews; discard(): Promise<void> }> => {
  const folder = await mkdtemp(join(parent, 'tollgate-views-'))
  const scratch = openLmdbViewStore(folder, undefined, parent)
  const remove = () => rm(folder, { recursive: true, force: true })
  // An open file lasts without a name, so a killed process leaves nothing behind. Windows refuses this.
  await remove().catch(() => undefined)
  const discard = async () => {
    await scratch.close()
    await remove()
  }
  return { scratch, discard }
}

/** The file of an embedded log or view store. */
const STORE_FILE = 'data.mdb'

/** The entries of a folder of objects that has no objects yet. */
const NO_OBJECTS = ['arriving', 'lost+found']

/**
 * Throws Damaged if the folder of the embedded log has no log, but views or objects show that it had one. Otherwise an
 * empty log would replace the lost one.
 */
export const expectLog = ({ eventStore, viewStore, objectStore }: Config): void => {
  if (eventStore.kind !== 'lmdb' || namesIn(eventStore.folder).includes(STORE_FILE)) return
  const hasViews = viewStore.kind === 'lmdb' && namesIn(viewStore.folder).includes(STORE_FILE)
  const hasObjects = objectStore.kind === 'disk' && namesIn(objectStore.folder).some(name => !NO_OBJECTS.includes(name))
  const found = [...(hasViews ? [viewStore.folder] : []), ...(hasObjects ? [objectStore.folder] : [])]
  if (found.length === 0) return
  throw new Damaged(
    [
      `${eventStore.folder} holds no event log, but the data in ${found.join(' and ')} comes from an event log.`,
      'Restore the log from a backup, or correct DATA_DIR or EVENT_STORE_URL.',
      'To start an empty log without the earlier accounts, start the service once with --new-log.',
    ].join(' '),
  )
}

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])
