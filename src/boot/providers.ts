import { createSandboxProvider } from '../adapters/provider/sandbox/provider.ts'
import type { Clock } from '../ports/clock.ts'
import type { UseInputMedia } from '../ports/input-media.ts'
import { type ProviderAccount, SANDBOX } from '../services/providers/provider-account.ts'
import type { RoutesParts } from '../services/providers/routes.ts'
import type { Substitutes } from './core.ts'

interface Parts {
  clock: Clock
  useInputMedia: UseInputMedia
}

type Providers = Pick<RoutesParts, 'bindingsOf' | 'accounts' | 'sandbox'> & { close(): Promise<void> }

/** The accounts at providers that are configured, and the sandbox. */
export const openProviders = (
  { clock, useInputMedia }: Parts,
  { providers = { sandbox: createSandboxProvider({ useInputMedia, clock }) }, bindingsOf = () => [] }: Substitutes,
): Providers => {
  const all = Object.entries(providers).map(([provider, client]): ProviderAccount => {
    return { provider, account: provider, client }
  })
  return {
    bindingsOf,
    accounts: all.filter(({ provider }) => provider !== SANDBOX),
    sandbox: all.find(({ provider }) => provider === SANDBOX),
    close: async () => {
      await Promise.all(all.map(({ client }) => client.close()))
    },
  }
}
