import { join } from 'node:path'
import type { Environment } from '../../schemas/environment.ts'
import { parseEventStoreUrl } from '../adapters/event-log/eventstoredb/url.ts'
import { parseS3Url } from '../adapters/object-store/s3-url.ts'
import { parseSinkUrl, type SealSinkAddress } from '../adapters/seal-sink/url.ts'
import { parseRedisUrl } from '../adapters/view-store/redis-url.ts'
import { type Config, ConfigError } from './config.ts'
import { advice, listOf, readAddress } from './config-values.ts'

export const readEventStore = ({
  DATA_DIR,
  EVENT_STORE_URL: url,
  MASTER_SECRET,
}: Environment): Config['eventStore'] => {
  if (!url?.startsWith('esdb')) return { kind: 'lmdb', folder: folderOf(url, DATA_DIR, 'log') }
  const address = readAddress('EVENT_STORE_URL', url, parseEventStoreUrl)
  // Processes on several machines have no common file to keep it in.
  if (MASTER_SECRET === undefined)
    throw new ConfigError(`MASTER_SECRET must be set to the same value for every process. ${advice('MASTER_SECRET')}`)
  return { kind: 'eventstoredb', address }
}

export const readViewStore = ({ DATA_DIR, VIEW_STORE_URL: url, VIEW_KEY_SPACE }: Environment): Config['viewStore'] =>
  url?.startsWith('redis')
    ? { kind: 'redis', address: readAddress('VIEW_STORE_URL', url, parseRedisUrl), keySpace: VIEW_KEY_SPACE }
    : { kind: 'lmdb', folder: folderOf(url, DATA_DIR, 'views') }

/** The folder that an address such as `lmdb:./data/log` names. */
const folderOf = (url: string | undefined, dataDir: string, name: string) =>
  url ? url.slice(url.indexOf(':') + 1) : join(dataDir, name)

export const readObjectStore = (environment: Environment): Config['objectStore'] => {
  const { DATA_DIR, OBJECT_STORE_URL: url, OBJECT_STORE_PUBLIC_URL: publicUrl } = environment
  if (url?.startsWith('s3:')) {
    const server = readAddress('OBJECT_STORE_URL', url, parseS3Url)
    return { kind: 's3', ...server, publicUrl, stagingFolder: join(DATA_DIR, 'arriving') }
  }
  if (publicUrl !== undefined)
    throw new ConfigError(
      `OBJECT_STORE_PUBLIC_URL requires an S3 server in OBJECT_STORE_URL. ${advice('OBJECT_STORE_PUBLIC_URL')}`,
    )
  return { kind: 'disk', folder: folderOf(url, DATA_DIR, 'objects') }
}

export const readSealSinks = ({ SEAL_SINK: given = '', OBJECT_STORE_URL: objects }: Environment): SealSinkAddress[] => {
  const sinks = [...new Set(listOf(given))].map(text => readAddress('SEAL_SINK', text, parseSinkUrl))
  if (sinks.some(({ kind }) => kind === 's3') && !objects?.startsWith('s3:'))
    throw new ConfigError(`SEAL_SINK with s3:// requires an S3 server in OBJECT_STORE_URL. ${advice('SEAL_SINK')}`)
  return sinks
}
