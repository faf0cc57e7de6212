import { join } from 'node:path'
import { Environment } from '../schemas/environment.ts'
import { toMicros } from './domain/money.ts'
import { compileConvertingCheck } from './engine/validator.ts'

/** The checked configuration. Paths are as given: relative to where the process runs. */
export interface Config {
  port: number
  host: string
  /** Without a slash at the end; undefined until the port is known, where it was not set. */
  publicUrl: string | undefined
  eventStore: { kind: 'lmdb'; folder: string }
  viewStore: { kind: 'lmdb'; folder: string }
  objectStore: { kind: 'disk'; folder: string } | ({ kind: 's3' } & S3Config)
  /** What the addresses of files begin with, without a slash at the end, where it is not the service's own. */
  cdnUrl: string | undefined
  retention: Retention
  /** Given, or the file that keeps one. */
  masterSecret: { kind: 'given'; secret: string } | { kind: 'file'; path: string }
  allowPrivateWebhooks: boolean
  keyPrefix: string
  usdPerCreditMicros: number
  welcomeMicros: number
  logLevel: Environment['LOG_LEVEL']
}

export interface S3Config {
  host: string
  port: number | undefined
  tls: boolean
  region: string
  bucket: string
  accessKey: string
  secretKey: string
  /** How clients reach the server, where it is not by the same address. */
  publicUrl: string | undefined
  /** Where uploads are kept while they come in. */
  stagingFolder: string
}

/** How long files are kept, and how long an upload may take to be sent. */
export interface Retention {
  grantMs: number
  uploadMs: number
  outputMs: number
}

/** The environment cannot be used; the message names each variable and what is wrong with it. */
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
    // A secret that is too short may still be one.
    const given =
      name.endsWith('_SECRET') || name === 'OBJECT_STORE_URL' ? '' : `, but is ${JSON.stringify(variables[name])}`
    return `${name} ${message}${given}. ${describe(name)}.`
  })
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return toConfig(values as Environment)
}

const toConfig = (environment: Environment): Config => {
  const { DATA_DIR } = environment
  const folder = (url: string | undefined, name: string) =>
    url ? url.slice(url.indexOf(':') + 1) : join(DATA_DIR, name)
  const retention = {
    grantMs: Math.round(environment.UPLOAD_GRANT_MINUTES * 60_000),
    uploadMs: Math.round(environment.UPLOAD_RETENTION_DAYS * DAY_MS),
    outputMs: Math.round(environment.OUTPUT_RETENTION_DAYS * DAY_MS),
  }
  if (retention.uploadMs < retention.grantMs)
    throw new ConfigError('UPLOAD_RETENTION_DAYS must not be shorter than UPLOAD_GRANT_MINUTES.')
  return {
    port: environment.PORT,
    host: environment.HOST,
    publicUrl: environment.PUBLIC_URL,
    eventStore: { kind: 'lmdb', folder: folder(environment.EVENT_STORE_URL, 'log') },
    viewStore: { kind: 'lmdb', folder: folder(environment.VIEW_STORE_URL, 'views') },
    objectStore: environment.OBJECT_STORE_URL?.startsWith('s3:')
      ? {
          kind: 's3',
          ...readS3Url(environment.OBJECT_STORE_URL),
          publicUrl: environment.OBJECT_STORE_PUBLIC_URL,
          stagingFolder: join(DATA_DIR, 'arriving'),
        }
      : { kind: 'disk', folder: folder(environment.OBJECT_STORE_URL, 'objects') },
    cdnUrl: environment.CDN_URL,
    retention,
    masterSecret:
      environment.MASTER_SECRET === undefined
        ? { kind: 'file', path: join(DATA_DIR, 'master-secret') }
        : { kind: 'given', secret: environment.MASTER_SECRET },
    allowPrivateWebhooks: environment.ALLOW_PRIVATE_WEBHOOKS,
    keyPrefix: environment.KEY_PREFIX,
    usdPerCreditMicros: millionths('USD_PER_CREDIT', environment.USD_PER_CREDIT),
    welcomeMicros: millionths('WELCOME_CREDITS', environment.WELCOME_CREDITS),
    logLevel: environment.LOG_LEVEL,
  }
}

const DAY_MS = 24 * 60 * 60 * 1000

/** S3 servers that have only one region answer to this name. */
const DEFAULT_REGION = 'us-east-1'

const readS3Url = (text: string): Omit<S3Config, 'publicUrl' | 'stagingFolder'> => {
  // The URL standard leaves out default ports only for schemes that it knows, and this is none of them.
  const url = URL.canParse(text) ? new URL(text) : undefined
  const [accessKey, secretKey] = [decoded(url?.username), decoded(url?.password)]
  if (!url || accessKey === undefined || secretKey === undefined)
    throw new ConfigError(`OBJECT_STORE_URL must be an address that can be read. ${describe('OBJECT_STORE_URL')}.`)
  return {
    host: url.hostname,
    port: url.port ? Number(url.port) : undefined,
    tls: url.searchParams.get('tls') !== 'off',
    region: url.searchParams.get('region') ?? DEFAULT_REGION,
    bucket: url.pathname.slice(1),
    accessKey,
    secretKey,
  }
}

const decoded = (text = ''): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const millionths = (name: string, decimal: number): number => {
  try {
    return toMicros(decimal)
  } catch {
    throw new ConfigError(`${name} must have at most six decimals, but is ${decimal}. ${describe(name)}.`)
  }
}

const describe = (name: string): string =>
  (Environment.properties as Record<string, { description?: string }>)[name]?.description ?? ''
