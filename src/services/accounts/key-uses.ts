import { LRUCache } from 'lru-cache'
import type { KeyId } from '../../../schemas/primitives.ts'
import { isUseKnown } from '../../domain/account/keys.ts'
import { DAY_MS } from '../../domain/days.ts'
import { upTo } from '../../flow/cache-limit.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { KeyHolder } from '../caller.ts'
import type { AccountMailboxes } from './account-mailboxes.ts'

/** Keys whose last use is held, about 100 bytes each. The account's state knows it as well. */
const MAX_KNOWN = 50_000

/** Uses that are recorded at a time. At midnight all keys have a new day, and clients must not wait behind that. */
const MAX_RECORDING = 8

/** How long no use is recorded after a failure. */
const PAUSE_MS = 60_000

interface Dependencies {
  accounts: AccountMailboxes
  clock: Clock
  logger: Logger
}

/** Records that keys are used, at most once a UTC day for each. No request waits for it or fails because of it. */
export class KeyUses {
  readonly #dependencies: Dependencies
  /** The day that a key was last seen on, in days since 1970. */
  readonly #seen = new LRUCache<KeyId, number>(upTo(MAX_KNOWN))
  readonly #recording = new Set<Promise<void>>()
  #pausedUntilMs = Number.NEGATIVE_INFINITY

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  /** Notes a request that was answered. If there is no room to record it, a later one is. */
  note(caller: KeyHolder & { requestId?: string | undefined }) {
    const { clock } = this.#dependencies
    const day = Math.floor(clock.nowMs() / DAY_MS)
    if (this.#seen.get(caller.keyId) === day) return
    if (this.#recording.size >= MAX_RECORDING || clock.monotonicMs() < this.#pausedUntilMs) return
    this.#seen.set(caller.keyId, day)
    const recording = this.#record(caller).finally(() => this.#recording.delete(recording))
    this.#recording.add(recording)
  }

  /** Resolves when nothing is being recorded. */
  async settled(): Promise<void> {
    await Promise.all(this.#recording)
  }

  async #record(caller: KeyHolder) {
    const { accounts, clock, logger } = this.#dependencies
    const { accountId, keyId } = caller
    try {
      const key = (await accounts.recentState(accountId)).activeKeys.get(keyId)
      if (!key || isUseKnown(key, clock.nowMs())) return
      await accounts.execute(caller, accountId, { type: 'UseApiKey', keyId })
    } catch (error) {
      this.#seen.delete(keyId)
      this.#pausedUntilMs = clock.monotonicMs() + PAUSE_MS
      logger.warn({ err: error }, 'the use of an API key could not be recorded; retrying in a minute')
    }
  }
}
