import type { Provider } from '../../ports/provider.ts'

/** An account at a provider, ready to take jobs. */
export interface ProviderAccount {
  provider: string
  /** Distinguishes the accounts of a provider in events and lists. It reveals nothing of the key. */
  account: string
  client: Provider
}
