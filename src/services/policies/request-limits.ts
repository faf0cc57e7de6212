import { limitOf } from '../../domain/account/limits.ts'
import type { LimitPair } from '../../domain/account/state.ts'
import type { RefusalOf } from '../../domain/refusal.ts'
import type { RateCounter } from '../../ports/rate-counter.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'

interface RequestLimitsDependencies {
  accounts: Pick<AccountMailboxes, 'recentState'>
  counter: RateCounter
  /** The limits of accounts for which the operator has set none. */
  perMinute: LimitPair
}

/** A limit of requests per minute, and its remaining requests. */
interface LimitStatus {
  of: 'key' | 'account'
  limit: number
  /** Undefined if the request did not count towards the limit. */
  left?: { requests: number; ms: number }
}

/** A counted request, which is refused if it exceeds a limit. */
interface CountedRequest {
  statuses: LimitStatus[]
  refusal?: { refuse: RefusalOf<'too_many_requests'> }
}

/** Counts the requests of each key, and of all keys of an account together. */
export class RequestLimits {
  readonly #dependencies: RequestLimitsDependencies

  constructor(dependencies: RequestLimitsDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Counts a request. A request that exceeds the key's limit does not count towards the limit that the account's keys
   * share.
   */
  async count(caller: AccountCaller): Promise<CountedRequest> {
    const { accounts, counter, perMinute } = this.#dependencies
    const { accountId } = caller
    const keyId = keyIdOf(caller)
    const limits = limitOf('requestsPerMinute', await accounts.recentState(accountId), perMinute)
    const statuses: LimitStatus[] = [
      ...(keyId && limits.perKey !== NONE ? [{ of: 'key', limit: limits.perKey } as const] : []),
      ...(limits.perAccount !== NONE ? [{ of: 'account', limit: limits.perAccount } as const] : []),
    ]
    for (const status of statuses) {
      const { of, limit } = status
      const { count, leftMs } = await counter.count(of === 'key' ? (keyId as string) : accountId)
      status.left = { requests: Math.max(0, limit - count), ms: leftMs }
      if (count > limit) {
        return { statuses, refusal: { refuse: { code: 'too_many_requests', of, limit, retryAfterMs: leftMs } } }
      }
    }
    return { statuses }
  }
}

const NONE = Number.POSITIVE_INFINITY
