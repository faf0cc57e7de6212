import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { LRUCache } from 'lru-cache'
import type { AccountId } from '../../../schemas/primitives.ts'
import { upTo } from '../../flow/cache-limit.ts'
import { Damaged } from '../../ports/faults.ts'
import type { Folder, ObjectStore } from '../../ports/object-store.ts'
import type { Random } from '../../ports/random.ts'
import { deriveKey } from '../derive-key.ts'
import { decrypt, encrypt, KEY_BYTES, OVERHEAD_BYTES } from './cipher.ts'

/** Keys in memory, about 200 bytes each. */
const MAX_IN_MEMORY = 20_000

const FOLDER: Folder = 'vault'

/** In place of a key that was destroyed. An object that was cut off is something else. */
const DESTROYED = Buffer.alloc(KEY_BYTES + OVERHEAD_BYTES)

/** The key of an account's personal data, or the fact that it was destroyed. */
export type AccountKey = KeyObject | 'destroyed'

interface Dependencies {
  /** Opens the object store when the first key is needed, since many commands need none. */
  objects: () => Promise<Pick<ObjectStore, 'put' | 'get' | 'overwrite'>>
  close: () => Promise<unknown>
  masterSecret: string
  random: Random
}

/**
 * The keys of accounts, each an object of its own, encrypted with a key from the master secret. A destroyed key is an
 * object of zeros, so that a lost key is not taken for a destroyed one.
 */
export class Vault {
  readonly #objects: Dependencies['objects']
  readonly close: Dependencies['close']
  readonly random: Random
  readonly #wrappingKey: KeyObject
  readonly #keys = new LRUCache<AccountId, AccountKey>(upTo(MAX_IN_MEMORY))

  constructor({ objects, close, masterSecret, random }: Dependencies) {
    this.#objects = objects
    this.close = close
    this.random = random
    this.#wrappingKey = createSecretKey(deriveKey(masterSecret, 'vault'))
  }

  /** The key, if it is in memory. */
  known(accountId: AccountId): AccountKey | undefined {
    return this.#keys.get(accountId)
  }

  /** The key of an account. Rejects with Damaged if it was lost, and with Unavailable. */
  async key(accountId: AccountId): Promise<AccountKey> {
    const key = this.known(accountId) ?? (await this.#read(accountId))
    if (key) return key
    throw new Damaged(
      `the key of ${accountId} is missing from ${FOLDER}/ in the object store, or was made with another ` +
        'MASTER_SECRET; restore this folder from a backup',
    )
  }

  /** The key of an account, which is created if the account has none. Rejects with Unavailable. */
  async create(accountId: AccountId): Promise<AccountKey> {
    const bytes = Buffer.from(this.random.hex(KEY_BYTES), 'hex')
    const wrapped = encrypt(this.#wrappingKey, bytes, accountId, this.random)
    // Another process may create one at the same time.
    const objects = await this.#objects()
    if (!(await objects.put(this.#objectKey(accountId), wrapped, 'application/octet-stream', { ifAbsent: true })))
      return this.key(accountId)
    const key = createSecretKey(bytes)
    this.#keys.set(accountId, key)
    return key
  }

  /** Destroys a key for good. Can be repeated. */
  async destroy(accountId: AccountId): Promise<void> {
    const objects = await this.#objects()
    await objects.overwrite(this.#objectKey(accountId), DESTROYED)
    this.#keys.set(accountId, 'destroyed')
  }

  async #read(accountId: AccountId): Promise<AccountKey | undefined> {
    const stored = await (await this.#objects()).get(this.#objectKey(accountId))
    if (!stored) return undefined
    const wrapped = await buffer(stored.body)
    const key = wrapped.equals(DESTROYED) ? 'destroyed' : this.#unwrap(wrapped, accountId)
    this.#keys.set(accountId, key)
    return key
  }

  #unwrap(wrapped: Buffer, accountId: AccountId): KeyObject {
    const bytes = decrypt(this.#wrappingKey, wrapped, accountId)
    if (!bytes) throw new Damaged(`the key of ${accountId} in ${FOLDER}/ was changed; restore it from a backup`)
    return createSecretKey(bytes)
  }

  /** Whoever knows an account cannot name its key. */
  #objectKey(accountId: AccountId): string {
    return `${FOLDER}/${createHmac('sha256', this.#wrappingKey).update(accountId).digest('hex').slice(0, 32)}.key`
  }
}
