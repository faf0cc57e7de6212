import { LRUCache } from 'lru-cache'
import type { AccountId, KeyId } from '../../../schemas/primitives.ts'
import { suspensionRefusal } from '../../domain/account/access.ts'
import { isExpired, scopeOf } from '../../domain/account/keys.ts'
import type { AccountState, ActiveKey } from '../../domain/account/state.ts'
import { sha256 } from '../../domain/digest.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { upTo } from '../../flow/cache-limit.ts'
import { Unavailable } from '../../ports/faults.ts'
import { type Answer, answer } from '../answer.ts'
import type { KeyHolder } from '../caller.ts'
import type { Reads } from '../views/reads.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'
import { isWithin } from './key-addresses.ts'

/** Keys whose accounts are cached, about 200 bytes each. */
const MAX_KNOWN = 50_000

/**
 * Finds the holder of an API key. The views name a candidate, and the account's own state confirms it by the key's id
 * and hash. The account of a key never changes, so it is cached, and only unknown keys are looked up in the views. A
 * key that another process revoked, or whose account it suspended, works for at most a second.
 */
export class KeyHolders {
  readonly #reads: Reads
  readonly #accounts: AccountMailboxes
  readonly #known = new LRUCache<string, Candidate>(upTo(MAX_KNOWN))

  constructor(reads: Reads, accounts: AccountMailboxes) {
    this.#reads = reads
    this.#accounts = accounts
  }

  /**
   * Undefined for an unknown or revoked key. Refuses the keys of a suspended account. An expired key has a holder; see
   * `useRefusal`. Rejects with Unavailable if that cannot be decided.
   */
  async holderOf(apiKey: string): Promise<Answer<Holder> | undefined> {
    const hash = sha256(apiKey)
    const known = this.#known.get(hash)
    const holder = known && confirm(known, hash, await this.#accounts.recentState(known.accountId))
    if (holder) return holder
    const candidate = await this.#candidate(hash)
    if (!candidate) return undefined
    const { accountId } = candidate
    const confirmed = confirm(candidate, hash, await this.#accounts.recentState(accountId))
    const isActive = confirmed !== undefined
    if (isActive !== candidate.isRevoked) return confirmed
    // The views disagree: another process may have created or revoked the key in the last second.
    return confirm(candidate, hash, await this.#accounts.currentState(accountId))
  }

  async #candidate(hash: string): Promise<Candidate | undefined> {
    try {
      const row = await this.#reads.get('keys', hash)
      if (!row) return undefined
      const { accountId, keyId, revokedAt } = row
      this.#known.set(hash, { accountId, keyId, isRevoked: false })
      return { accountId, keyId, isRevoked: revokedAt !== undefined }
    } catch (error) {
      const known = this.#known.get(hash)
      if (!(error instanceof Unavailable) || !known) throw error
      return known
    }
  }
}

/** The holder of a key, and the restrictions of the key that every request checks. */
export interface Holder {
  holder: KeyHolder
  key: Pick<ActiveKey, 'expiresAt' | 'addresses'>
}

interface Candidate {
  accountId: AccountId
  keyId: KeyId
  isRevoked: boolean
}

const confirm = ({ accountId, keyId }: Candidate, hash: string, state: AccountState): Answer<Holder> | undefined => {
  const key = state.activeKeys.get(keyId)
  if (key?.hash !== hash) return undefined
  const suspended = suspensionRefusal(state)
  if (suspended) return { refuse: suspended }
  const mode = key.livemode === false && { livemode: key.livemode }
  return answer({ holder: { kind: 'key', accountId, keyId, scope: scopeOf(key), ...mode }, key })
}

/** Why a key may not be used from an address at a time, in ms since 1970; undefined if it may. */
export const useRefusal = (
  { expiresAt, addresses }: Holder['key'],
  address: string,
  atMs: number,
): Refusal | undefined => {
  if (expiresAt !== undefined && isExpired({ expiresAt }, atMs)) return { code: 'key_expired', expiresAt }
  return !addresses || isWithin(address, addresses) ? undefined : { code: 'address_not_allowed', address }
}
