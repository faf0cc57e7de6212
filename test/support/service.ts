import { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { KeyScope } from '../../schemas/actor.ts'
import type { AccountId, KeyId } from '../../schemas/primitives.ts'
import { createLogger } from '../../src/adapters/logger/pino.ts'
import { type Core, openCore, type TestOverrides } from '../../src/boot/core.ts'
import { readConfig } from '../../src/boot/read-config.ts'
import { startServer } from '../../src/boot/server.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { Provider } from '../../src/ports/provider.ts'
import type { NewKey } from '../../src/services/accounts/api-keys.ts'
import { caughtUp } from './caught-up.ts'
import { Client } from './client.ts'
import { doneFor } from './done.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { unwrap } from './unwrap.ts'

/** A complete service in this process, on a free port. */
export interface Service {
  url: string
  port: number
  /** Undefined without METRICS_PORT. */
  metricsPort: number | undefined
  core: Core
  /** A client with a key, or an anonymous one. */
  client(apiKey?: string): Client
  stop(): Promise<void>
}

/** A client with its own account. */
export type Customer = Client & { accountId: AccountId; keyId: KeyId; apiKey: string }

export interface AccountOptions {
  credits?: number
  tester?: boolean
  scope?: KeyScope
}

/** Node.js warns on stderr of each response that more than ten parties listen to. */
process.on('warning', (warning: Error & { emitter?: unknown }) => {
  if (warning.emitter instanceof ServerResponse) throw warning
})

const silent = createLogger('silent')

const caller = { kind: 'operator', name: 'test' } as const

/** So that one account has 64 slots. */
const PROVIDER_CONCURRENCY = '128'

/** Options of a service. `environment` adds to the variables that every test needs. */
export type ServiceOptions = TestOverrides & { environment?: Record<string, string> }

/** Starts a service that stops when the test ends, in a new folder by default. */
export const startService = async (
  t: Test,
  { folder, ...overrides }: ServiceOptions & { folder?: string } = {},
): Promise<Service> => {
  const core = await openFolder(folder ?? (await temporaryFolder(t)), overrides)
  const server = await startServer(core, overrides)
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= server.stop().then(() => core.close())
    return stopped
  }
  t.teardown(stop)
  return {
    ...{ url: server.url, port: server.port, metricsPort: server.metricsPort, core, stop },
    client: apiKey => new Client(server.url, apiKey),
  }
}

/** Opens the stores of a folder without a service. The caller must close them. */
export const openFolder = (
  folder: string,
  { logger = silent, environment, ...overrides }: ServiceOptions = {},
): Promise<Core> =>
  openCore(readConfig({ DATA_DIR: folder, PORT: '0', PROVIDER_CONCURRENCY, ...environment }), {
    logger,
    ...overrides,
  })

/** Opens an account with a key, and returns a client that uses it. */
export const openAccount = async (
  { core, url }: Pick<Service, 'core' | 'url'>,
  { credits = 100, tester = false, scope = 'full' }: AccountOptions = {},
): Promise<Customer> => {
  const email = `${crypto.randomUUID()}@example.com`
  const welcomeMicros = toMicros(credits)
  const opening = { email, tester, welcomeMicros, key: { name: 'test', scope } }
  const { accountId, apiKey = '' } = unwrap(await core.services.accounts.open(caller, opening))
  const [keyId] = (await core.accounts.state(accountId)).activeKeys.keys()
  await markUsed(core, accountId, keyId as KeyId)
  // The service looks keys up in the views, which follow the log.
  await caughtUp(core)
  return Object.assign(new Client(url, apiKey), { accountId, apiKey, keyId: keyId as KeyId })
}

/** Creates another key of a customer, and returns a client that uses it. */
export const openKey = async (
  { core, url }: Pick<Service, 'core' | 'url'>,
  { accountId }: Pick<Customer, 'accountId'>,
  limits: Omit<NewKey, 'name'> = {},
): Promise<Customer> => {
  const { keyId, apiKey } = unwrap(await core.services.keys.create(caller, accountId, { name: 'test', ...limits }))
  await caughtUp(core)
  return Object.assign(new Client(url, apiKey), { accountId, apiKey, keyId })
}

/** Records the first use of a key today, so that requests of a test append no more than it expects. */
const markUsed = (core: Core, accountId: AccountId, keyId: KeyId) =>
  core.accounts.execute({ kind: 'key', accountId, keyId, scope: 'full' }, accountId, {
    type: 'UseApiKey',
    keyId,
  })

/** Opens accounts in a folder without a running service. */
export const openAccounts = async <Many extends AccountOptions[]>(
  folder: string | { folder: string; environment: Record<string, string> },
  ...options: Many
): Promise<{ [Index in keyof Many]: Customer }> => {
  const core = typeof folder === 'string' ? await openFolder(folder) : await openFolder(folder.folder, folder)
  const opened = await Promise.all(options.map(each => openAccount({ core, url: 'http://localhost' }, each)))
  await core.close()
  return opened as { [Index in keyof Many]: Customer }
}

/** An instant provider, so that tests of the service do not test the provider. */
export const instantProvider: Provider = {
  deduplicates: true,
  submit: async job => doneFor(job),
}
