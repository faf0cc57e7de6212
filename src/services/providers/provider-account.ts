import { createHmac } from 'node:crypto'
import type { Provider } from '../../ports/provider.ts'
import { deriveKey } from '../derive-key.ts'

/** An account at a provider, ready to take jobs. */
export interface ProviderAccount {
  provider: string
  /** Distinguishes the accounts of a provider in events and lists. It reveals nothing of the key. */
  account: string
  client: Provider
}

/** Enough digits to distinguish a handful of accounts. */
const ACCOUNT_DIGITS = 8

/** The name of an account at a provider in events and lists. It reveals nothing of the key. */
export const accountDigest = (masterSecret: string, key: string): string =>
  createHmac('sha256', deriveKey(masterSecret, 'provider-accounts')).update(key).digest('hex').slice(0, ACCOUNT_DIGITS)
