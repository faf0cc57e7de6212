import type { ProviderName } from '../../schemas/binding.ts'
import { SANDBOX } from '../../schemas/primitives.ts'
import { systemClock } from '../adapters/clock/system.ts'
import { AllowedAddresses } from '../adapters/outbound/allowed-address.ts'
import { proxyFault } from '../adapters/outbound/proxy.ts'
import { openVendorRequests } from '../adapters/outbound/vendor-requests.ts'
import { createAnthropicProvider } from '../adapters/provider/anthropic/provider.ts'
import { createElevenLabsProvider } from '../adapters/provider/elevenlabs/provider.ts'
import { createFalProvider } from '../adapters/provider/fal/provider.ts'
import { createGoogleProvider } from '../adapters/provider/google/provider.ts'
import { createOpenAiProvider } from '../adapters/provider/openai/provider.ts'
import { createReplicateProvider } from '../adapters/provider/replicate/provider.ts'
import { createSandboxProvider } from '../adapters/provider/sandbox/provider.ts'
import type { VendorDependencies } from '../adapters/provider/vendor.ts'
import { bindingsOf as shippedBindingsOf } from '../catalog/shipped.ts'
import type { Clock } from '../ports/clock.ts'
import type { UseInputMedia } from '../ports/input-media.ts'
import type { Provider } from '../ports/provider.ts'
import type { RequestVendor } from '../ports/vendor-request.ts'
import { CALLBACKS_PATH } from '../services/files/addresses.ts'
import { type CheckedAccount, checkAccounts } from '../services/providers/check-accounts.ts'
import type { ProviderAccount } from '../services/providers/provider-account.ts'
import { accountDigest } from '../services/providers/provider-account.ts'
import { Routes, type RoutesDependencies } from '../services/providers/routes.ts'
import type { Config } from './config.ts'
import type { TestOverrides } from './core.ts'
import type { Telemetry } from './telemetry.ts'

const factories: Record<ProviderName, (dependencies: VendorDependencies) => Provider> = {
  openai: createOpenAiProvider,
  anthropic: createAnthropicProvider,
  google: createGoogleProvider,
  replicate: createReplicateProvider,
  fal: createFalProvider,
  elevenlabs: createElevenLabsProvider,
}

interface Dependencies {
  config: Pick<Config, 'providers' | 'sandboxFallsBack' | 'publicUrl' | 'proxy' | 'mediaMemoryBytes'>
  masterSecret: string
  clock: Clock
  useInputMedia: UseInputMedia
  telemetry?: Telemetry
}

type Providers = Omit<RoutesDependencies, 'breakers' | 'choices' | 'clock'> & { close(): Promise<void> }

/** Opens the configured accounts at providers, and the sandbox. */
export const openProviders = (
  dependencies: Dependencies,
  { providers, bindingsOf = shippedBindingsOf }: TestOverrides,
): Providers => {
  const { config, clock, useInputMedia, telemetry } = dependencies
  const { request, close } = openVendorRequests({ memoryBytes: config.mediaMemoryBytes, proxy: config.proxy })
  const traced = telemetry?.ofRequests(request) ?? request
  const accounts = providers ? substituted(providers) : openAccounts(dependencies, traced)
  const own: ProviderAccount[] = providers
    ? []
    : [{ provider: SANDBOX, account: SANDBOX, client: createSandboxProvider({ useInputMedia, clock }) }]
  const all = [...accounts, ...own].map(account => telemetry?.ofAccount(account) ?? account)
  return {
    bindingsOf,
    accounts: all.filter(({ provider }) => provider !== SANDBOX),
    sandbox: all.find(({ provider }) => provider === SANDBOX),
    fallsBack: config.sandboxFallsBack,
    close: async () => {
      await Promise.all(all.map(({ client }) => client.close?.()))
      await close()
    },
  }
}

/** The origins of the providers whose base URL the operator has set. */
export const originsOf = (providers: Config['providers']): ReadonlyMap<string | undefined, string> =>
  new Map(providers.flatMap(({ provider, baseUrl }) => (baseUrl ? [[provider, new URL(baseUrl).origin]] : [])))

/** Checks the configured accounts at vendors without opening a store. */
export const checkVendorAccounts = async (
  dependencies: Pick<Dependencies, 'config' | 'masterSecret'>,
): Promise<CheckedAccount[]> => {
  const { config } = dependencies
  const { request, close } = openVendorRequests({ memoryBytes: config.mediaMemoryBytes, proxy: config.proxy })
  const check = async (chosen: Config['providers'][number]) => {
    // Adapters do not know the proxy, and would blame something else.
    let fault: string | undefined
    const requestOrNote: RequestVendor = (url, sent, readLong) =>
      request(url, sent, readLong).catch(async error => {
        fault = await proxyFault(config.proxy, url)
        throw error
      })
    const own = {
      ...dependencies,
      config: { ...config, providers: [chosen] },
      clock: systemClock,
      useInputMedia: noInputMedia,
    }
    const accounts = openAccounts(own, requestOrNote)
    const checked = await checkAccounts(systemClock, accounts)
    return checked.map(each => (each.fault && fault ? { ...each, fault } : each))
  }
  try {
    const checked = (await Promise.all(config.providers.map(check))).flat()
    const secrets = config.providers.flatMap(({ keys }) => keys)
    return checked.map(each => withoutSecrets(each, secrets))
  } finally {
    await close()
  }
}

/**
 * Adapters remove keys from their messages. A provider's response must not show a key or control the terminal either.
 */
const withoutSecrets = ({ fault, ...checked }: CheckedAccount, secrets: readonly string[]): CheckedAccount => {
  if (fault === undefined) return checked
  const clean = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), fault)
  return { ...checked, fault: clean.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ') }
}

const noInputMedia = () => Promise.reject(new Error('commands cannot run models'))

/** The routes that the configuration and the operators allow, for commands. */
export const configuredRoutes = ({
  choices,
  breakers,
  ...dependencies
}: Omit<Dependencies, 'useInputMedia'> & Pick<RoutesDependencies, 'choices' | 'breakers'>): Routes => {
  const { clock } = dependencies
  const providers = openProviders({ ...dependencies, useInputMedia: noInputMedia }, {})
  return new Routes({ ...providers, breakers, choices, clock })
}

const openAccounts = (
  { config, masterSecret, useInputMedia }: Dependencies,
  request: RequestVendor,
): ProviderAccount[] =>
  config.providers.flatMap(({ provider, keys, baseUrl }) =>
    keys.map(key => ({
      provider,
      account: accountDigest(masterSecret, key),
      client: factories[provider]({
        key,
        baseUrl,
        request,
        useInputMedia,
        webhookUrl: webhookUrl(config.publicUrl, provider),
      }),
    })),
  )

/**
 * The URL to which a provider reports the end of its jobs. Replicate accepts only HTTPS, and neither Replicate nor fal
 * reaches a private address.
 */
export const webhookUrl = (publicUrl: string | undefined, provider: ProviderName): string | undefined => {
  if (publicUrl === undefined) return undefined
  const { protocol, hostname } = new URL(publicUrl)
  const isReachable = protocol === 'https:' && new AllowedAddresses().hasHost(hostname.replace(/^\[|\]$/g, ''))
  return isReachable ? `${publicUrl}${CALLBACKS_PATH}/${provider}` : undefined
}

const substituted = (providers: Record<string, Provider>): ProviderAccount[] =>
  Object.entries(providers).map(([provider, client]) => ({ provider, account: provider, client }))
