import type { Actor, KeyScope } from '../../../schemas/actor.ts'
import type { Moded } from '../../../schemas/primitives.ts'
import type { AccountRecord } from '../read-log.ts'

/** An API key in the log. */
export interface KnownKey extends Moded {
  keyId: string
  name: string
  lastFour: string
  scope: KeyScope
  createdAt: string
  isActive: boolean
}

/** All keys of an account, including revoked keys. */
export class KeyRing {
  readonly #keys = new Map<string, KnownKey>()

  take({ type, data, metadata }: AccountRecord) {
    if (type === 'ApiKeyCreated') {
      const { keyId, name, lastFour, scope = 'full', livemode } = data
      this.#keys.set(keyId, { keyId, name, lastFour, scope, livemode, createdAt: metadata.at, isActive: true })
    }
    if (type === 'ApiKeyRevoked') {
      const key = this.#keys.get(data.keyId)
      if (key) key.isActive = false
    }
  }

  find(keyId: string): KnownKey | undefined {
    return this.#keys.get(keyId)
  }

  /** The active keys, oldest first. */
  active(): KnownKey[] {
    return [...this.#keys.values()].filter(({ isActive }) => isActive)
  }

  /** The actor that caused an event, such as `key first (…a1B2)` or `operator ada`. */
  describe(actor: Actor): string {
    switch (actor.kind) {
      case 'key':
        return `key ${this.nameOf(actor.keyId)}`
      case 'session':
        return `session ${actor.sessionId}`
      case 'operator':
        return actor.name === undefined ? 'an operator' : `operator ${actor.name}`
      case 'auditor':
        return `auditor ${actor.name}`
      default:
        return actor.kind
    }
  }

  /** The name of a key, with its last characters, since several keys may have the same name. */
  nameOf(keyId: string): string {
    const key = this.#keys.get(keyId)
    return key ? `${key.name} (…${key.lastFour})` : keyId
  }
}

export const actorOf = ({ metadata }: AccountRecord): Actor => metadata.actor as Actor
