import { createHmac } from 'node:crypto'
import { deriveKey } from '../derive-key.ts'

/** Enough to tell a handful of accounts apart. */
const ACCOUNT_DIGITS = 8

/** The name of an account at a provider in events and lists. It reveals nothing of the key. */
export const accountDigest = (masterSecret: string, key: string): string =>
  createHmac('sha256', deriveKey(masterSecret, 'provider-accounts')).update(key).digest('hex').slice(0, ACCOUNT_DIGITS)
