import { isExpired } from '../../domain/account/keys.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { isWithin } from './key-addresses.ts'
import type { Holder } from './key-holders.ts'

/** Why a key may not be used from an address at a time, in ms since 1970; undefined if it may. */
export const useRefusal = (
  { expiresAt, addresses }: Pick<Holder, 'expiresAt' | 'addresses'>,
  address: string,
  atMs: number,
): Refusal | undefined => {
  if (expiresAt !== undefined && isExpired({ expiresAt }, atMs)) return { code: 'key_expired', expiresAt }
  return !addresses || isWithin(address, addresses) ? undefined : { code: 'address_not_allowed', address }
}
