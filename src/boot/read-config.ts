import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { MAX_ACTOR_NAME_LENGTH } from '../../schemas/actor.ts'
import { type ProviderName, providerNames } from '../../schemas/binding.ts'
import { Environment, type Role } from '../../schemas/environment.ts'
import type { DefaultLimits } from '../domain/account/limits.ts'
import { DAY_MS } from '../domain/days.ts'
import { emailIdentity } from '../domain/login/identity.ts'
import { clientAddresses } from '../http/connections/client-address.ts'
import { compileConvertingCheck } from '../services/schema-check.ts'
import { type Config, ConfigError, type ProviderConfig, type SealConfig } from './config.ts'
import {
  advice,
  listOf,
  readBytes,
  readDenied,
  readEventStore,
  readMarkUp,
  readMicros,
  readObjectStore,
  readProxies,
  readSealSinks,
  readUrl,
  readViewStore,
} from './config-values.ts'
import { readBrand } from './read-brand.ts'
import { readPacks } from './read-packs.ts'
import { isSecret, readSecretFiles } from './secret-files.ts'

const check = compileConvertingCheck(Environment)

interface ReadOptions {
  /** A command makes no seals, so it needs no seal key. It logs only warnings, unless LOG_LEVEL is set. */
  isCommand?: boolean
}

/** Reads the configuration from environment variables. Throws ConfigError. An empty variable counts as unset. */
export const readConfig = (
  variables: Record<string, string | undefined>,
  { isCommand = false }: ReadOptions = {},
): Config => {
  const given = Object.entries({ ...fromLowercase(variables), ...variables, ...readSecretFiles(variables) }).filter(
    ([name, value]) => name in Environment.properties && value,
  )
  const values: Record<string, unknown> = { ...(isCommand && { LOG_LEVEL: 'warn' }), ...Object.fromEntries(given) }
  const faults = check(values).map(({ path, message }) => {
    const name = path.slice(1)
    const shown = isSecret(name) ? '' : `, but is ${JSON.stringify(variables[name])}`
    return `${name} ${message}${shown}. ${advice(name)}`
  })
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  const config = toConfig(values as Environment)
  // Each process would make its own key, but a log is sealed with one key.
  const mustSeal = !isCommand && config.eventStore.kind === 'eventstoredb' && config.roles.has('sealer')
  if (mustSeal && config.seals.key.kind === 'development') throw new ConfigError(SEAL_KEY_MISSING)
  return config
}

const SEAL_KEY_MISSING = [
  'SEAL_KEY_FILE must name a file with the same key for every process with the role sealer.',
  'Create it once with "openssl genpkey -algorithm ed25519 -out seal-key.pem". A log that is already sealed needs',
  'its existing key, which may be DATA_DIR/seal-key.pem of one of its processes.',
].join(' ')

/** Variables that are often set in lowercase. */
const fromLowercase = ({ https_proxy: HTTPS_PROXY, no_proxy: NO_PROXY }: Record<string, string | undefined>) => ({
  HTTPS_PROXY,
  NO_PROXY,
})

const toConfig = (environment: Environment): Config => {
  const workers = environment.WORKERS === 'auto' ? availableParallelism() : Number(environment.WORKERS)
  const uploadGrantMs = Math.round(environment.UPLOAD_GRANT_MINUTES * 60_000)
  const retention = {
    uploadsMs: Math.round(environment.UPLOAD_RETENTION_DAYS * DAY_MS),
    outputsMs: Math.round(environment.OUTPUT_RETENTION_DAYS * DAY_MS),
    runsMs: environment.RUN_VIEW_RETENTION_DAYS && environment.RUN_VIEW_RETENTION_DAYS * DAY_MS,
  }
  if (retention.uploadsMs < uploadGrantMs)
    throw new ConfigError('UPLOAD_RETENTION_DAYS must not be shorter than UPLOAD_GRANT_MINUTES.')
  return {
    port: environment.PORT,
    host: environment.HOST,
    publicUrl: environment.PUBLIC_URL && readUrl('PUBLIC_URL', environment.PUBLIC_URL),
    allowedOrigins: readOrigins(environment),
    roles: new Set(environment.ROLES.split(',') as Role[]),
    workers,
    projectorThread: environment.PROJECTOR_THREAD === 'on',
    dataDir: environment.DATA_DIR,
    eventStore: { ...readEventStore(environment), ...(workers > 1 && { isShared: true }) },
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
    mediaMemoryBytes: readBytes(environment.MAX_MEDIA_MEMORY),
    connections: readConnections(environment),
    limits: readLimits(environment),
    testRunsPerDay: environment.TEST_RUNS_PER_DAY,
    outbound: {
      ...{ allowPrivate: environment.ALLOW_PRIVATE_WEBHOOKS, denied: readDenied(environment) },
      proxy: readProxy(environment),
    },
    proxy: readProxy(environment),
    brand: readBrand(environment),
    publicDescriptors: environment.PUBLIC_DESCRIPTORS,
    keyPrefix: environment.KEY_PREFIX,
    usdPerCreditMicros: readMicros('USD_PER_CREDIT', environment.USD_PER_CREDIT),
    markUp: readMarkUp(environment),
    packs: readPacks(environment),
    welcomeMicros: readMicros('WELCOME_CREDITS', environment.WELCOME_CREDITS),
    registration: {
      mode: environment.REGISTRATION,
      domains: environment.REGISTRATION_DOMAINS?.split(','),
      maxPerDay: environment.REGISTRATIONS_PER_DAY,
      maxWelcomeMicrosPerDay: readMicros('WELCOME_CREDITS_PER_DAY', environment.WELCOME_CREDITS_PER_DAY),
      maxWelcomesPerNetwork: environment.WELCOME_GRANTS_PER_NETWORK_PER_DAY,
      welcomesDisposable: environment.WELCOME_DISPOSABLE_ADDRESSES,
    },
    signInCodesPerMinute: environment.SIGN_IN_CODES_PER_MINUTE,
    mail: readMail(environment),
    operatorEmail: environment.OPERATOR_EMAIL,
    adminEmails: readAdmins(environment),
    telegram: readTelegram(environment),
    payments: readPayments(environment),
    metrics:
      environment.METRICS_PORT === undefined
        ? undefined
        : { host: environment.METRICS_HOST, port: environment.METRICS_PORT },
    logLevel: environment.LOG_LEVEL,
  }
}

const readConnections = (environment: Environment): Config['connections'] => {
  const isTrusted = readProxies(environment)
  return {
    total: environment.MAX_CONNECTIONS,
    perAddress: environment.MAX_CONNECTIONS_PER_ADDRESS,
    isTrusted,
    clientAddress: clientAddresses(isTrusted, environment.CLIENT_ADDRESS_HEADER),
    keepAliveMs: environment.KEEP_ALIVE_SECONDS * 1000,
  }
}

const readProxy = ({ HTTPS_PROXY: url, NO_PROXY: noProxy = '' }: Environment): Config['proxy'] => {
  if (url === undefined) return undefined
  // The URL may hold a password, so the message does not repeat it.
  if (!URL.canParse(url)) throw new ConfigError(`HTTPS_PROXY must be a valid URL. ${advice('HTTPS_PROXY')}`)
  return { url, noProxy }
}

const readSealKey = ({ DATA_DIR, SEAL_KEY: pem, SEAL_KEY_FILE: path }: Environment): SealConfig['key'] => {
  if (pem !== undefined) return { kind: 'given', pem }
  return path === undefined ? { kind: 'development', path: join(DATA_DIR, 'seal-key.pem') } : { kind: 'file', path }
}

/** For each provider, the variables with its keys and with its base URL. */
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

const readMail = ({ DATA_DIR, SERVICE_NAME, SMTP_URL: url, MAIL_FROM: from }: Environment): Config['mail'] => {
  if (url === undefined)
    return {
      ...{ kind: 'outbox', folder: join(DATA_DIR, 'outbox') },
      from: from ?? { name: SERVICE_NAME, address: 'tollgate@localhost' },
    }
  if (!URL.canParse(url)) throw new ConfigError(`SMTP_URL must be a valid URL. ${advice('SMTP_URL')}`)
  if (from === undefined) throw new ConfigError(`SMTP_URL requires MAIL_FROM. ${advice('MAIL_FROM')}`)
  return { kind: 'smtp', url, from }
}

/** The log records the address of an operator as the name of who acts. */
const readAdmins = ({ ADMIN_EMAILS: given = '' }: Environment): string[] =>
  listOf(given).map(text => {
    const address = emailIdentity(text)?.address
    if (address !== undefined && address.length <= MAX_ACTOR_NAME_LENGTH) return address
    const rule = `must contain e-mail addresses of at most ${MAX_ACTOR_NAME_LENGTH} characters`
    throw new ConfigError(`ADMIN_EMAILS ${rule}, but has ${JSON.stringify(text)}. ${advice('ADMIN_EMAILS')}`)
  })

const readTelegram = (environment: Environment): Config['telegram'] => {
  const { TELEGRAM_CLIENT_ID: clientId, TELEGRAM_CLIENT_SECRET: clientSecret, TELEGRAM_ISSUER: issuer } = environment
  if (clientId === undefined && clientSecret === undefined) return undefined
  for (const name of ['TELEGRAM_CLIENT_ID', 'TELEGRAM_CLIENT_SECRET'] as const)
    if (environment[name] === undefined)
      throw new ConfigError(`${name} is required for the Telegram login. ${advice(name)}`)
  return { clientId: clientId as string, clientSecret: clientSecret as string, issuer }
}

const readPayments = (environment: Environment): Config['payments'] => {
  const { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, STRIPE_URL: url } = environment
  const { MANAGED_PAYMENTS: managedPayments, AUTOMATIC_TAX: automaticTax } = environment
  if (managedPayments && automaticTax) throw new ConfigError('Set MANAGED_PAYMENTS or AUTOMATIC_TAX, not both.')
  if (secretKey === undefined && webhookSecret === undefined) return undefined
  if (secretKey === undefined)
    throw new ConfigError(`STRIPE_WEBHOOK_SECRET requires STRIPE_SECRET_KEY. ${advice('STRIPE_SECRET_KEY')}`)
  if (webhookSecret === undefined) throw new ConfigError(WEBHOOK_SECRET_MISSING)
  return {
    ...{ secretKey, webhookSecrets: webhookSecret.split(','), url: url && readUrl('STRIPE_URL', url) },
    ...{ managedPayments, automaticTax, purchasesPerHour: environment.PURCHASES_PER_HOUR },
    withdrawalDays: environment.WITHDRAWAL_DAYS,
  }
}

const WEBHOOK_SECRET_MISSING = [
  'STRIPE_SECRET_KEY requires STRIPE_WEBHOOK_SECRET: without it, anyone could report payments.',
  'Create a webhook endpoint at Stripe for PUBLIC_URL/callbacks/stripe, and set the signing secret that Stripe shows,',
  'which begins with whsec_.',
].join(' ')

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
