import { LRUCache } from 'lru-cache'
import type { AccountId, KeyId } from '../../../schemas/primitives.ts'
import { sha256 } from '../../engine/log/canonical.ts'
import type { Reads } from '../../engine/views/reads.ts'
import { Unavailable } from '../../ports/faults.ts'
import type { Accounts } from './accounts.ts'

/** Keys whose holders are remembered; each takes about 200 bytes. */
const MAX_KNOWN = 50_000

export interface KeyHolder {
  accountId: AccountId
  keyId: KeyId
}

/**
 * Finds out whose an API key is, from the views. When they do not answer, writes go on all the same: whose a key is never
 * changes, so that is remembered, and whether it was revoked is on the account's stream.
 */
export class Keys {
  readonly #reads: Reads
  readonly #accounts: Accounts
  readonly #known = new LRUCache<string, KeyHolder>({ max: MAX_KNOWN })

  constructor(reads: Reads, accounts: Accounts) {
    this.#reads = reads
    this.#accounts = accounts
  }

  /** Undefined for a key that is unknown or was revoked. Rejects with Unavailable when that cannot be found out. */
  async holderOf(apiKey: string): Promise<KeyHolder | undefined> {
    const hash = sha256(apiKey)
    try {
      const row = await this.#reads.get('keys', hash)
      if (!row || row.revokedAt !== undefined) return undefined
      const { accountId, keyId } = row
      this.#known.set(hash, { accountId, keyId })
      return { accountId, keyId }
    } catch (error) {
      const holder = this.#known.get(hash)
      if (!(error instanceof Unavailable) || !holder) throw error
      const { activeKeys } = await this.#accounts.currentState(holder.accountId)
      return activeKeys.has(holder.keyId) ? holder : undefined
    }
  }
}
