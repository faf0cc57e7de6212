import { join } from 'node:path'
import { type ProviderName, providerNames } from '../../schemas/binding.ts'
import { Environment, type Role } from '../../schemas/environment.ts'
import type { EventStoreAddress } from '../adapters/event-log/eventstoredb/address.ts'
import { parseEventStoreUrl } from '../adapters/event-log/eventstoredb/url.ts'
import type { S3Address } from '../adapters/object-store/s3-client.ts'
import { parseS3Url } from '../adapters/object-store/s3-url.ts'
import { type AddressRange, readRanges } from '../adapters/outbound/allowed-address.ts'
import type { OutboundOptions } from '../adapters/outbound/undici.ts'
import type { RedisAddress } from '../adapters/redis-client.ts'
import { parseSinkUrl, type SealSinkAddress } from '../adapters/seal-sink/url.ts'
import { parseRedisUrl } from '../adapters/view-store/redis-url.ts'
import type { DefaultLimits } from '../domain/account/limits.ts'
import { toMicros } from '../domain/money.ts'
import { type ConnectionLimits, type TrustedAddress, trust } from '../http/connections.ts'
import { compileConvertingCheck, lowerFirst } from '../services/schema-check.ts'
import type { RegistrationRules } from '../services/sign-in/admissions.ts'

/** The checked configuration. Relative paths are relative to the working directory. */
export interface Config {
  port: number
  host: string
  /** Without a trailing slash; undefined if unset, since the default depends on the port. */
  publicUrl: string | undefined
  /** Origins other than the service's own whose pages may use the service. */
  allowedOrigins: string[]
  roles: ReadonlySet<Role>
  /** The folder for files, relative to the working directory. */
  dataDir: string
  eventStore: { kind: 'lmdb'; folder: string } | { kind: 'eventstoredb'; address: EventStoreAddress }
  viewStore: { kind: 'lmdb'; folder: string } | { kind: 'redis'; address: RedisAddress; keySpace: string }
  objectStore: { kind: 'disk'; folder: string } | ({ kind: 's3' } & S3Config)
  /** The base URL of files without a trailing slash, if it is not the service's own. */
  cdnUrl: string | undefined
  /** How long a presigned URL is valid. */
  uploadGrantMs: number
  /** The bytes that the uploads of an account may have together. */
  uploadQuotaBytes: number
  retention: Retention
  /** The secret itself, or the file that holds it. */
  masterSecret: { kind: 'given'; secret: string } | { kind: 'file'; path: string }
  seals: SealConfig
  providers: ProviderConfig[]
  /** Whether the sandbox serves what no configured provider does. */
  sandboxFallsBack: boolean
  /** Calls to one provider at a time. */
  providerConcurrency: number
  connections: Omit<ConnectionLimits, 'turns'>
  /** The limits of accounts without exceptions. */
  limits: DefaultLimits
  /** The test runs that an account may have in a UTC day. */
  testRunsPerDay: number
  outbound: OutboundOptions
  /** Whether anyone may read the descriptions of the API, or only those with a key. */
  publicDescriptors: boolean
  keyPrefix: string
  usdPerCreditMicros: number
  welcomeMicros: number
  registration: RegistrationRules
  /** Codes to sign in that this process makes in a minute. */
  signInCodesPerMinute: number
  mail: MailConfig
  /** Where the operator is told of troubles; undefined for nowhere. */
  operatorEmail: string | undefined
  /** The login with Telegram; undefined if it is off. */
  telegram: { clientId: string; clientSecret: string; issuer: string | undefined } | undefined
  logLevel: Environment['LOG_LEVEL']
}

/** Where mail goes: to a server, or to files in a folder. */
type MailConfig = { from: string } & ({ kind: 'smtp'; url: string } | { kind: 'outbox'; folder: string })

interface SealConfig {
  /** The private key in PEM, or its file. A missing file of a development key is created. */
  key: { kind: 'given'; pem: string } | { kind: 'file' | 'development'; path: string }
  previousKeyFile: string | undefined
  /** Where copies of seals go. */
  sinks: SealSinkAddress[]
  maxEvents: number
  maxAgeMs: number
}

/** A provider that is on. */
export interface ProviderConfig {
  provider: ProviderName
  /** At least one. */
  keys: string[]
  baseUrl: string | undefined
}

interface S3Config extends S3Address {
  /** The URL at which clients reach the server, if it is a different one. */
  publicUrl: string | undefined
  /** The folder for uploads that are still being received. */
  stagingFolder: string
}

/** How long files are kept. */
export interface Retention {
  uploadsMs: number
  outputsMs: number
}

/** The environment is invalid. The message names each variable and its fault. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const check = compileConvertingCheck(Environment)

/** Reads the configuration from environment variables. Throws ConfigError. An empty variable counts as unset. */
export const readConfig = (variables: Record<string, string | undefined>): Config => {
  const given = Object.entries(variables).filter(([name, value]) => name in Environment.properties && value)
  const values: Record<string, unknown> = Object.fromEntries(given)
  const faults = check(values).map(({ path, message }) => {
    const name = path.slice(1)
    const shown = isSecret(name) ? '' : `, but is ${JSON.stringify(variables[name])}`
    return `${name} ${message}${shown}. ${advice(name)}`
  })
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return toConfig(values as Environment)
}

/** Even an invalid value may be a secret. */
const isSecret = (name: string) =>
  name.endsWith('_SECRET') ||
  /_(API_KEY|API_TOKEN)$|^FAL_KEY$/.test(name) ||
  name === 'SEAL_KEY' ||
  name === 'SEAL_SINK' ||
  name === 'SMTP_URL' ||
  name.endsWith('_STORE_URL')

const toConfig = (environment: Environment): Config => {
  const uploadGrantMs = Math.round(environment.UPLOAD_GRANT_MINUTES * 60_000)
  const retention = {
    uploadsMs: Math.round(environment.UPLOAD_RETENTION_DAYS * DAY_MS),
    outputsMs: Math.round(environment.OUTPUT_RETENTION_DAYS * DAY_MS),
  }
  if (retention.uploadsMs < uploadGrantMs)
    throw new ConfigError('UPLOAD_RETENTION_DAYS must not be shorter than UPLOAD_GRANT_MINUTES.')
  return {
    port: environment.PORT,
    host: environment.HOST,
    publicUrl: environment.PUBLIC_URL && readUrl('PUBLIC_URL', environment.PUBLIC_URL),
    allowedOrigins: readOrigins(environment),
    roles: new Set(environment.ROLES.split(',') as Role[]),
    dataDir: environment.DATA_DIR,
    eventStore: readEventStore(environment),
    viewStore: readViewStore(environment),
    objectStore: readObjectStore(environment),
    cdnUrl: environment.CDN_URL,
    uploadGrantMs,
    uploadQuotaBytes: readBytes(environment.UPLOAD_QUOTA),
    retention,
    masterSecret:
      environment.MASTER_SECRET === undefined
        ? { kind: 'file', path: join(environment.DATA_DIR, 'master-secret') }
        : { kind: 'given', secret: environment.MASTER_SECRET },
    seals: {
      key: readSealKey(environment),
      previousKeyFile: environment.SEAL_PREVIOUS_KEY_FILE,
      sinks: readSealSinks(environment),
      maxEvents: environment.SEAL_EVENTS,
      maxAgeMs: Math.round(environment.SEAL_MINUTES * 60_000),
    },
    providers: readProviders(environment),
    sandboxFallsBack: environment.SANDBOX === 'fallback',
    providerConcurrency: environment.PROVIDER_CONCURRENCY,
    connections: {
      total: environment.MAX_CONNECTIONS,
      perAddress: environment.MAX_CONNECTIONS_PER_ADDRESS,
      isTrusted: readProxies(environment),
    },
    limits: readLimits(environment),
    testRunsPerDay: environment.TEST_RUNS_PER_DAY,
    outbound: { allowPrivate: environment.ALLOW_PRIVATE_WEBHOOKS, denied: readDenied(environment) },
    publicDescriptors: environment.PUBLIC_DESCRIPTORS,
    keyPrefix: environment.KEY_PREFIX,
    usdPerCreditMicros: readMicros('USD_PER_CREDIT', environment.USD_PER_CREDIT),
    welcomeMicros: readMicros('WELCOME_CREDITS', environment.WELCOME_CREDITS),
    registration: {
      mode: environment.REGISTRATION,
      domains: environment.REGISTRATION_DOMAINS?.split(','),
      maxPerDay: environment.REGISTRATIONS_PER_DAY,
      maxWelcomeMicrosPerDay: readMicros('WELCOME_CREDITS_PER_DAY', environment.WELCOME_CREDITS_PER_DAY),
    },
    signInCodesPerMinute: environment.SIGN_IN_CODES_PER_MINUTE,
    mail: readMail(environment),
    operatorEmail: environment.OPERATOR_EMAIL,
    telegram: readTelegram(environment),
    logLevel: environment.LOG_LEVEL,
  }
}

const readSealKey = ({ DATA_DIR, SEAL_KEY: pem, SEAL_KEY_FILE: path }: Environment): SealConfig['key'] => {
  if (pem !== undefined) return { kind: 'given', pem }
  return path === undefined ? { kind: 'development', path: join(DATA_DIR, 'seal-key.pem') } : { kind: 'file', path }
}

/** The variables with the keys of a provider, and with its address. */
export const keyVariables = {
  openai: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  anthropic: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'],
  google: ['GOOGLE_API_KEY', 'GOOGLE_BASE_URL'],
  replicate: ['REPLICATE_API_TOKEN', 'REPLICATE_BASE_URL'],
  fal: ['FAL_KEY', 'FAL_BASE_URL'],
  elevenlabs: ['ELEVENLABS_API_KEY', 'ELEVENLABS_BASE_URL'],
} as const satisfies Record<ProviderName, readonly [keyof Environment, keyof Environment]>

const readProviders = (environment: Environment): ProviderConfig[] =>
  providerNames.flatMap(provider => {
    const [keyVariable, urlVariable] = keyVariables[provider]
    const keys = [...new Set(environment[keyVariable]?.split(','))]
    const url = environment[urlVariable]
    return keys.length > 0 ? [{ provider, keys, baseUrl: url && readUrl(urlVariable, url) }] : []
  })

const readSealSinks = ({ SEAL_SINK: given = '', OBJECT_STORE_URL: objects }: Environment): SealSinkAddress[] => {
  const sinks = [...new Set(listOf(given))].map(text => readAddress('SEAL_SINK', text, parseSinkUrl))
  if (sinks.some(({ kind }) => kind === 's3') && !objects?.startsWith('s3:'))
    throw new ConfigError(`SEAL_SINK with s3:// requires an S3 server in OBJECT_STORE_URL. ${advice('SEAL_SINK')}`)
  return sinks
}

const readMail = ({ DATA_DIR, SMTP_URL: url, MAIL_FROM: from }: Environment): Config['mail'] => {
  if (url === undefined)
    return { kind: 'outbox', folder: join(DATA_DIR, 'outbox'), from: from ?? 'Tollgate <tollgate@localhost>' }
  if (!URL.canParse(url)) throw new ConfigError(`SMTP_URL must be a valid URL. ${advice('SMTP_URL')}`)
  if (from === undefined) throw new ConfigError(`SMTP_URL requires MAIL_FROM. ${advice('MAIL_FROM')}`)
  return { kind: 'smtp', url, from }
}

const readTelegram = (environment: Environment): Config['telegram'] => {
  const { TELEGRAM_CLIENT_ID: clientId, TELEGRAM_CLIENT_SECRET: clientSecret, TELEGRAM_ISSUER: issuer } = environment
  if (clientId === undefined && clientSecret === undefined) return undefined
  for (const name of ['TELEGRAM_CLIENT_ID', 'TELEGRAM_CLIENT_SECRET'] as const)
    if (environment[name] === undefined)
      throw new ConfigError(`${name} is required for the Telegram login. ${advice(name)}`)
  return { clientId: clientId as string, clientSecret: clientSecret as string, issuer }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** An address of the right form may still have an impossible host or port. */
const readUrl = (name: keyof Environment, url: string): string => {
  if (URL.canParse(url)) return url
  throw new ConfigError(`${name} must contain valid addresses, but has ${JSON.stringify(url)}. ${advice(name)}`)
}

const readLimits = (environment: Environment): DefaultLimits => ({
  requestsPerMinute: {
    perKey: environment.REQUESTS_PER_MINUTE_PER_KEY || Number.POSITIVE_INFINITY,
    perAccount: environment.REQUESTS_PER_MINUTE_PER_ACCOUNT || Number.POSITIVE_INFINITY,
  },
  runsInFlight: {
    perKey: environment.RUNS_IN_FLIGHT_PER_KEY || Number.POSITIVE_INFINITY,
    perAccount: environment.RUNS_IN_FLIGHT_PER_ACCOUNT || Number.POSITIVE_INFINITY,
  },
})

const readOrigins = ({ ALLOWED_ORIGINS: origins }: Environment): string[] =>
  (origins?.split(',') ?? []).map(origin => new URL(readUrl('ALLOWED_ORIGINS', origin)).origin)

const readProxies = ({ TRUSTED_PROXIES: given = '' }: Environment): TrustedAddress => {
  try {
    return trust(listOf(given))
  } catch {
    throw noAddresses('TRUSTED_PROXIES', given)
  }
}

const readDenied = ({ DENIED_ADDRESSES: given = '' }: Environment): AddressRange[] => {
  try {
    return readRanges(listOf(given))
  } catch {
    throw noAddresses('DENIED_ADDRESSES', given)
  }
}

const noAddresses = (name: keyof Environment, given: string) =>
  new ConfigError(`${name} must hold addresses and CIDR ranges, but is ${JSON.stringify(given)}. ${advice(name)}`)

/** A number of bytes as people write it, such as `10 GB`, which is 10 × 2³⁰ bytes. */
const readBytes = (text: string): number => {
  const [, number, unit = ''] = /^(\d+) ?(.+)$/.exec(text) ?? []
  return Number(number) * 2 ** ({ MB: 20, GB: 30, TB: 40 }[unit] ?? 0)
}

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map(each => each.trim())
    .filter(Boolean)

const readEventStore = ({ DATA_DIR, EVENT_STORE_URL: url, MASTER_SECRET }: Environment): Config['eventStore'] => {
  if (!url?.startsWith('esdb')) return { kind: 'lmdb', folder: folderOf(url, DATA_DIR, 'log') }
  const address = readAddress('EVENT_STORE_URL', url, parseEventStoreUrl)
  // Processes on several machines have no common file to keep it in.
  if (MASTER_SECRET === undefined)
    throw new ConfigError(`MASTER_SECRET must be set to the same value for every process. ${advice('MASTER_SECRET')}`)
  return { kind: 'eventstoredb', address }
}

const readViewStore = ({ DATA_DIR, VIEW_STORE_URL: url, VIEW_KEY_SPACE }: Environment): Config['viewStore'] =>
  url?.startsWith('redis')
    ? { kind: 'redis', address: readAddress('VIEW_STORE_URL', url, parseRedisUrl), keySpace: VIEW_KEY_SPACE }
    : { kind: 'lmdb', folder: folderOf(url, DATA_DIR, 'views') }

/** The folder that an address such as `lmdb:./data/log` names. */
const folderOf = (url: string | undefined, dataDir: string, name: string) =>
  url ? url.slice(url.indexOf(':') + 1) : join(dataDir, name)

const readObjectStore = (environment: Environment): Config['objectStore'] => {
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

/** Parsers return a text that describes a fault of the address without repeating a secret. */
const readAddress = <Address extends object>(
  name: string,
  url: string,
  parse: (url: string) => Address | string,
): Address => {
  const address = parse(url)
  if (typeof address === 'string') throw new ConfigError(`${name} ${address}. ${advice(name)}`)
  return address
}

const readMicros = (name: string, decimal: number): number => {
  try {
    return toMicros(decimal)
  } catch {
    throw new ConfigError(`${name} must have at most six decimals, but is ${decimal}. ${advice(name)}`)
  }
}

/** A sentence with the meaning of a variable. */
const advice = (name: string): string => {
  const { description = '' } = (Environment.properties as Record<string, { description?: string }>)[name] ?? {}
  const means = lowerFirst(description)
  return description.startsWith('The ') ? `Set it to ${means}.` : `It ${means}.`
}
