import { join } from 'node:path'
import { Environment } from '../../schemas/environment.ts'
import { parseEventStoreUrl } from '../adapters/event-log/eventstoredb/url.ts'
import { parseS3Url } from '../adapters/object-store/s3-url.ts'
import { type AddressRange, readRanges } from '../adapters/outbound/allowed-address.ts'
import { parseSinkUrl, type SealSinkAddress } from '../adapters/seal-sink/url.ts'
import { parseRedisUrl } from '../adapters/view-store/redis-url.ts'
import { toMicros } from '../domain/money.ts'
import type { TrustedAddress } from '../http/connections/client-address.ts'
import { trust } from '../http/connections/connections.ts'
import { lowerFirst } from '../services/schema-check.ts'
import { type Config, ConfigError, type MarkUp } from './config.ts'

/** The schema checks only the form of an address. Its host or port may still be impossible. */
export const readUrl = (name: keyof Environment, url: string): string => {
  if (URL.canParse(url)) return url
  throw new ConfigError(`${name} must contain valid addresses, but has ${JSON.stringify(url)}. ${advice(name)}`)
}

/** A parser returns a text that describes the fault without repeating a secret. */
const readAddress = <Address extends object>(
  name: string,
  url: string,
  parse: (url: string) => Address | string,
): Address => {
  const address = parse(url)
  if (typeof address === 'string') throw new ConfigError(`${name} ${address}. ${advice(name)}`)
  return address
}

export const readProxies = ({ TRUSTED_PROXIES: given = '' }: Environment): TrustedAddress => {
  try {
    return trust(listOf(given))
  } catch {
    throw noAddresses('TRUSTED_PROXIES', given)
  }
}

export const readDenied = ({ DENIED_ADDRESSES: given = '' }: Environment): AddressRange[] => {
  try {
    return readRanges(listOf(given))
  } catch {
    throw noAddresses('DENIED_ADDRESSES', given)
  }
}

const noAddresses = (name: keyof Environment, given: string) =>
  new ConfigError(`${name} must hold addresses and CIDR ranges, but is ${JSON.stringify(given)}. ${advice(name)}`)

export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)

/** A number of bytes, such as `10 GB`, which is 10 × 2³⁰ bytes. */
export const readBytes = (text: string): number => {
  const [, number, unit = ''] = /^(\d+) ?(.+)$/.exec(text) ?? []
  return Number(number) * 2 ** ({ MB: 20, GB: 30, TB: 40 }[unit] ?? 0)
}

/** Factors such as `1.3,veo-3-1=1.1`. The factor without a name applies to all other families. */
export const readMarkUp = ({ MARK_UP: given }: Environment): MarkUp | undefined => {
  if (given === undefined) return undefined
  const parts = given.split(',').map(part => part.split('='))
  const named = parts.flatMap(([name = '', factor]) => (factor === undefined ? [] : [[name, factor] as const]))
  const [all] = parts.flatMap(([factor, rest]) => (rest === undefined ? [factor] : []))
  return {
    allMicros: all === undefined ? undefined : toMicros(Number(all)),
    byFamily: new Map(named.map(([name, factor]) => [name, toMicros(Number(factor))])),
  }
}

export const readMicros = (name: string, decimal: number): number => {
  try {
    return toMicros(decimal)
  } catch {
    throw new ConfigError(`${name} must have at most six decimals, but is ${decimal}. ${advice(name)}`)
  }
}

/** A sentence that explains a variable. */
export const advice = (name: string): string => {
  const { description = '' } = (Environment.properties as Record<string, { description?: string }>)[name] ?? {}
  const means = lowerFirst(description)
  return /^(The|Your) /.test(description) ? `Set it to ${means}.` : `It ${means}.`
}

export const readEventStore = ({
  DATA_DIR,
  EVENT_STORE_URL: url,
  MASTER_SECRET,
}: Environment): Config['eventStore'] => {
  if (!url?.startsWith('esdb')) return { kind: 'lmdb', folder: folderOf(url, DATA_DIR, 'log') }
  const address = readAddress('EVENT_STORE_URL', url, parseEventStoreUrl)
  // Processes on several machines share no file that could hold the secret.
  if (MASTER_SECRET === undefined)
    throw new ConfigError(`MASTER_SECRET must be set to the same value for every process. ${advice('MASTER_SECRET')}`)
  return { kind: 'eventstoredb', address }
}

export const readViewStore = ({ DATA_DIR, VIEW_STORE_URL: url, VIEW_KEY_SPACE }: Environment): Config['viewStore'] =>
  url?.startsWith('redis')
    ? { kind: 'redis', address: readAddress('VIEW_STORE_URL', url, parseRedisUrl), keySpace: VIEW_KEY_SPACE }
    : { kind: 'lmdb', folder: folderOf(url, DATA_DIR, 'views') }

/**
 * A log that a command names: an address of a server, the folder of an embedded log, or `env:NAME` for a variable with
 * either.
 */
export const readLogAddress = (name: string, given: string): Config['eventStore'] => {
  const [, variable] = /^env:(.*)$/s.exec(given) ?? []
  const text = variable === undefined ? given : process.env[variable]
  if (!text) throw new ConfigError(`${name} names the environment variable ${variable}, which is not set.`)
  if (!text.startsWith('esdb')) return { kind: 'lmdb', folder: text.replace(/^lmdb:/, '') }
  const address = parseEventStoreUrl(text)
  if (typeof address === 'string') throw new ConfigError(`${name} ${address}.`)
  return { kind: 'eventstoredb', address }
}

/** The folder in an address such as `lmdb:./data/log`. */
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
