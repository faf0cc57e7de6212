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
  objectStore: { kind: 'disk'; folder: string }
  /** Given, or the file that keeps one. */
  masterSecret: { kind: 'given'; secret: string } | { kind: 'file'; path: string }
  allowPrivateWebhooks: boolean
  keyPrefix: string
  usdPerCreditMicros: number
  welcomeMicros: number
  logLevel: Environment['LOG_LEVEL']
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
    const given = name.endsWith('_SECRET') ? '' : `, but is ${JSON.stringify(variables[name])}`
    return `${name} ${message}${given}. ${describe(name)}.`
  })
  if (faults.length > 0) throw new ConfigError(faults.join('\n'))
  return toConfig(values as Environment)
}

const toConfig = (environment: Environment): Config => {
  const { DATA_DIR } = environment
  const folder = (url: string | undefined, name: string) =>
    url ? url.slice(url.indexOf(':') + 1) : join(DATA_DIR, name)
  return {
    port: environment.PORT,
    host: environment.HOST,
    publicUrl: environment.PUBLIC_URL,
    eventStore: { kind: 'lmdb', folder: folder(environment.EVENT_STORE_URL, 'log') },
    viewStore: { kind: 'lmdb', folder: folder(environment.VIEW_STORE_URL, 'views') },
    objectStore: { kind: 'disk', folder: folder(environment.OBJECT_STORE_URL, 'objects') },
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

const millionths = (name: string, decimal: number): number => {
  try {
    return toMicros(decimal)
  } catch {
    throw new ConfigError(`${name} must have at most six decimals, but is ${decimal}. ${describe(name)}.`)
  }
}

const describe = (name: string): string =>
  (Environment.properties as Record<string, { description?: string }>)[name]?.description ?? ''
