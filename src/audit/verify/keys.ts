import type { Report } from '../fault.ts'
import type { AuditedEvent, Rule } from './rule.ts'

/** Only active keys of the account change it; a key is created once and revoked once, under the hash it has. */
export class Keys implements Rule {
  /** The hash of each active key; undefined once the key is revoked. */
  readonly #hashes = new Map<unknown, unknown>()

  take({ type, data, metadata }: AuditedEvent, report: Report) {
    const { keyId: actorKeyId } = metadata.actor as { keyId?: string }
    if (actorKeyId !== undefined && this.#hashes.get(actorKeyId) === undefined)
      report(`${actorKeyId} is no active key of this account`)
    const { keyId, hash } = data
    if (type === 'ApiKeyCreated') {
      if (this.#hashes.has(keyId)) report(`${keyId} was created before`)
      this.#hashes.set(keyId, hash)
    }
    if (type !== 'ApiKeyUsed' && type !== 'ApiKeyRevoked') return
    if (this.#hashes.get(keyId) !== hash) report(`${keyId} is no active key with this hash`)
    if (type === 'ApiKeyRevoked') this.#hashes.set(keyId, undefined)
  }
}
