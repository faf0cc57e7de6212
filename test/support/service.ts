import type { Test } from 'tap'
import type { AccountId, KeyId } from '../../schemas/primitives.ts'
import { createLogger } from '../../src/adapters/logger/pino.ts'
import { readConfig } from '../../src/boot/config.ts'
import { type Core, openCore, type Substitutes } from '../../src/boot/core.ts'
import { startServer } from '../../src/boot/server.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { Provider } from '../../src/ports/provider.ts'
import { createApiKey } from '../../src/services/accounts/api-keys.ts'
import { register } from '../../src/services/accounts/registration.ts'
import { caughtUp } from './caught-up.ts'
import { Client } from './client.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A whole service in this process, on a free port. */
export interface Service {
  url: string
  core: Core
  /** A client with a key, or a stranger without. */
  client(apiKey?: string): Client
  stop(): Promise<void>
}

/** A client that has an account of its own. */
export type Customer = Client & { accountId: AccountId; keyId: KeyId; apiKey: string }

export interface AccountOptions {
  credits?: number
  tester?: boolean
}

const silent = createLogger('silent')

const cause = { actor: { kind: 'operator' } } as const

/** What a test may say of a service; `environment` holds variables beside those that every test needs. */
export type ServiceOptions = Substitutes & { environment?: Record<string, string> }

/** Starts a service that is stopped when the test ends, in a new folder unless it is told of one. */
export const startService = async (
  t: Test,
  { folder, ...substitutes }: ServiceOptions & { folder?: string } = {},
): Promise<Service> => {
  const core = await openFolder(folder ?? (await temporaryFolder(t)), substitutes)
  const server = await startServer(core, substitutes)
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= server.stop().then(() => core.close())
    return stopped
  }
  t.teardown(stop)
  return { url: server.url, core, client: apiKey => new Client(server.url, apiKey), stop }
}

/** Opens the stores of a folder without a service on them. Whoever opens them closes them. */
export const openFolder = (
  folder: string,
  { logger = silent, environment, ...substitutes }: ServiceOptions = {},
): Promise<Core> => openCore(readConfig({ DATA_DIR: folder, PORT: '0', ...environment }), { logger, ...substitutes })

/** Opens an account with a key, and hands back a client that uses it. */
export const openAccount = async (
  { core, url }: Pick<Service, 'core' | 'url'>,
  { credits = 100, tester = false }: AccountOptions = {},
): Promise<Customer> => {
  const email = `${crypto.randomUUID()}@example.com`
  const accountId = await register(core, { email, tester, welcomeMicros: toMicros(credits) }, cause)
  const key = await createApiKey(core.accounts, core.config.keyPrefix, { accountId, name: 'test', cause })
  // The service looks keys up in the views, which follow the log.
  await caughtUp(core)
  return Object.assign(new Client(url, key.apiKey), { accountId, ...key })
}

/** Opens accounts in a folder that no service runs on yet. */
export const openAccounts = async <Many extends AccountOptions[]>(
  folder: string,
  ...options: Many
): Promise<{ [Index in keyof Many]: Customer }> => {
  const core = await openFolder(folder)
  const opened = await Promise.all(options.map(each => openAccount({ core, url: 'http://localhost' }, each)))
  await core.close()
  return opened as { [Index in keyof Many]: Customer }
}

/** Does the work at once, so that a test of the service is not one of the provider. */
export const instantProvider: Provider = {
  submit: async () => ({ kind: 'done', media: [], text: 'done' }),
  close: async () => undefined,
}
