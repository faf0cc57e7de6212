import type { KeyScope } from '../../../schemas/actor.ts'
import type { KeyId } from '../../../schemas/primitives.ts'
import type { KeyRow } from '../../../schemas/views.ts'
import { sha256 } from '../../domain/digest.ts'
import { refuse } from '../../domain/refusal.ts'
import type { Random } from '../../ports/random.ts'
import { type Answer, answer } from '../answer.ts'
import type { Caller } from '../caller.ts'
import { newKeyId } from '../ids.ts'
import type { Reads } from '../reads.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'
import { checkAccountId, findAccount } from './find-account.ts'

/** The most keys listed for one account. Revoked keys stay in the list, so it has no other bound. */
const MAX_LISTED = 10_000

interface Parts {
  accounts: AccountMailboxes
  reads: Reads
  random: Random
  /** The prefix of a key's text. */
  keyPrefix: string
}

export interface NewKey {
  name: string
  scope?: KeyScope
}

/** Creates, lists and revokes an account's API keys. */
export class ApiKeys {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Creates a key. Its text is returned only here; the log holds its hash. */
  async create(
    caller: Caller,
    accountId: string,
    { name, scope = 'full' }: NewKey,
  ): Promise<Answer<{ keyId: KeyId; apiKey: string }>> {
    const { accounts } = this.#parts
    // Otherwise a leaked key could create successors and outlive its revocation.
    if (caller.kind === 'key' && scope === 'keys') return refuse('forbidden', { scope: caller.scope })
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const { key, apiKey } = generateKey(this.#parts, { name, scope })
    const outcome = await accounts.execute(caller, checked.value, { type: 'CreateApiKey', ...key })
    return 'refuse' in outcome ? outcome : answer({ keyId: key.keyId, apiKey })
  }

  /** Lists all keys, oldest first, including revoked ones. */
  async list(caller: Caller, accountId: string): Promise<Answer<KeyRow[]>> {
    const found = await findAccount(this.#parts.reads, caller, accountId)
    if ('refuse' in found) return found
    const entries = await this.#parts.reads.list('keys', 'byAccount', { prefix: `${accountId}/`, limit: MAX_LISTED })
    return answer(entries.map(entry => entry.row))
  }

  /** Revokes a key, which is refused from then on. */
  async revoke(caller: Caller, accountId: string, keyId: string): Promise<Answer<undefined>> {
    const checked = checkAccountId(caller, accountId)
    if ('refuse' in checked) return checked
    const command = { type: 'RevokeApiKey', keyId: keyId as KeyId } as const
    const outcome = await this.#parts.accounts.execute(caller, checked.value, command)
    return 'refuse' in outcome ? outcome : answer(undefined)
  }
}

/** Generates a key: its text, which is stored nowhere, and the data that the log records. */
export const generateKey = (
  { random, keyPrefix }: Pick<Parts, 'random' | 'keyPrefix'>,
  { name, scope = 'full' }: NewKey,
) => {
  const apiKey = `${keyPrefix}_sk_live_${random.hex(16)}`
  return { apiKey, key: { keyId: newKeyId(random), name, hash: sha256(apiKey), lastFour: apiKey.slice(-4), scope } }
}
