import { isIPv6 } from 'node:net'
import type { ProviderName } from '../../schemas/binding.ts'
import type { Environment, Role } from '../../schemas/environment.ts'
import type { PriceList } from '../../schemas/packs.ts'
import type { EventStoreAddress } from '../adapters/event-log/eventstoredb/address.ts'
import type { S3Address } from '../adapters/object-store/s3-client.ts'
import type { ProxySettings } from '../adapters/outbound/proxy.ts'
import type { OutboundOptions } from '../adapters/outbound/undici.ts'
import type { RedisAddress } from '../adapters/redis/client.ts'
import type { SealSinkAddress } from '../adapters/seal-sink/url.ts'
import type { DefaultLimits } from '../domain/account/limits.ts'
import type { Brand } from '../domain/brand.ts'
import type { ConnectionLimits } from '../http/connections/connections.ts'
import type { Sender } from '../ports/mailer.ts'
import type { RegistrationRules } from '../services/sign-in/admissions.ts'

/** The factor for all families, and the factors of single families. */
export interface MarkUp {
  allMicros: number | undefined
  byFamily: ReadonlyMap<string, number>
}

/** The checked configuration. Relative paths are relative to the working directory. */
export interface Config {
  port: number
  host: string
  /** Without a trailing slash; undefined if unset, since the default depends on the port. */
  publicUrl: string | undefined
  /** Origins whose pages may use the service, in addition to its own origin. */
  allowedOrigins: string[]
  roles: ReadonlySet<Role>
  /** The processes that answer requests at this address. */
  workers: number
  /** Whether a service's projector runs in a thread of its own. */
  projectorThread: boolean
  /** Relative to the working directory. */
  dataDir: string
  /** `isShared`: other workers append to the same log. */
  eventStore:
    | { kind: 'lmdb'; folder: string; isShared?: boolean }
    | { kind: 'eventstoredb'; address: EventStoreAddress }
  viewStore: { kind: 'lmdb'; folder: string } | { kind: 'redis'; address: RedisAddress; keySpace: string }
  objectStore: { kind: 'disk'; folder: string } | ({ kind: 's3' } & S3Config)
  /** The base URL of files without a trailing slash, if it is not the service's own. */
  cdnUrl: string | undefined
  /** The lifetime of a presigned URL. */
  uploadGrantMs: number
  /** The total size of an account's uploads. */
  uploadQuotaBytes: number
  retention: Retention
  /** The secret itself, or the file that holds it. */
  masterSecret: { kind: 'given'; secret: string } | { kind: 'file'; path: string }
  seals: SealConfig
  providers: ProviderConfig[]
  /** Whether the sandbox serves endpoints that no configured provider serves. */
  sandboxFallsBack: boolean
  /** Calls to one provider at a time. */
  providerConcurrency: number
  /** The memory that long responses of providers take together. */
  mediaMemoryBytes: number
  connections: Omit<ConnectionLimits, 'turns'>
  /** The limits of accounts for which the operator has set none. */
  limits: DefaultLimits
  /** Test runs of an account in a UTC day. */
  testRunsPerDay: number
  outbound: OutboundOptions
  /** The proxy to providers, webhook receivers, clients' files and the mail server; undefined for none. */
  proxy: ProxySettings | undefined
  brand: Brand
  /** Whether anyone may read the descriptions of the API. Otherwise a key is needed. */
  publicDescriptors: boolean
  keyPrefix: string
  usdPerCreditMicros: number
  /** The factors on list prices, in millionths; undefined for the shipped prices. */
  markUp: MarkUp | undefined
  /** What the service sells, unless an operator has published another price list by hand. */
  packs: PriceList
  welcomeMicros: number
  registration: RegistrationRules
  /** Sign-in codes that this process makes in a minute. */
  signInCodesPerMinute: number
  mail: MailConfig
  /** The address for alerts; undefined for none. */
  operatorEmail: string | undefined
  /** The addresses of the operators, who sign in with them. */
  adminEmails: readonly string[]
  /** Sign-in with Telegram; undefined if it is off. */
  telegram: { clientId: string; clientSecret: string; issuer: string | undefined } | undefined
  /** Sales through Stripe; undefined if they are off. */
  payments: PaymentsConfig | undefined
  /** The address that serves metrics; undefined for none. */
  metrics: { host: string; port: number } | undefined
  logLevel: Environment['LOG_LEVEL']
}

type MailConfig = { from: Sender } & ({ kind: 'smtp'; url: string } | { kind: 'outbox'; folder: string })

export interface PaymentsConfig {
  secretKey: string
  /** One, or two while the secret is changed. */
  webhookSecrets: readonly string[]
  /** Another server in place of Stripe. */
  url: string | undefined
  /** Whether Stripe is the merchant of record. */
  managedPayments: boolean
  /** Whether Stripe computes the operator's tax. */
  automaticTax: boolean
  /** Purchases that an account may open in an hour. */
  purchasesPerHour: number
  /** The days after a payment in which customers may withdraw from the contract; 0 for none. */
  withdrawalDays: number
}

export interface SealConfig {
  /** The private key in PEM, or its file. A missing development key is created. */
  key: { kind: 'given'; pem: string } | { kind: 'file' | 'development'; path: string }
  previousKeyFile: string | undefined
  /** The places that get copies of seals. */
  sinks: SealSinkAddress[]
  maxEvents: number
  maxAgeMs: number
}

/** A configured provider. */
export interface ProviderConfig {
  provider: ProviderName
  /** At least one. */
  keys: string[]
  baseUrl: string | undefined
}

interface S3Config extends S3Address {
  /** The URL at which clients reach the server, if it differs. */
  publicUrl: string | undefined
  /** The folder for uploads that are still being received. */
  stagingFolder: string
}

export interface Retention {
  uploadsMs: number
  outputsMs: number
  /** How long ended runs stay in the lists; undefined for ever. */
  runsMs: number | undefined
}

/** The environment is invalid. The message names each variable and its fault. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** The URL of the service, without a trailing slash: the configured URL, or the URL of the listening address. */
export const publicUrlOf = ({ publicUrl, host }: Pick<Config, 'publicUrl' | 'host'>, port: number): string =>
  publicUrl ?? `http://${hostName(host)}:${port}`

/** The host name in the URL of a listening address. */
const hostName = (host: string): string => {
  if (['127.0.0.1', '0.0.0.0', '::', '::1'].includes(host)) return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}
