import { type LimitPair, limitOf } from '../../domain/account/limits.ts'
import type { RefusalOf } from '../../domain/refusal.ts'
import type { RateCounter } from '../../ports/rate-counter.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'

interface RequestLimitsDependencies {
  accounts: Pick<AccountMailboxes, 'recentState'>
  counter: RateCounter
  /** The limits of accounts without exceptions. */
  perMinute: LimitPair
}

/** A limit of requests per minute, and how it stands. */
interface LimitStatus {
  of: 'key' | 'account'
  limit: number
  /** Undefined if the request was not counted towards it. */
  left?: { requests: number; ms: number }
}

/** The request is refused if it goes beyond a limit. */
interface CountedRequest {
  statuses: LimitStatus[]
  refusal?: { refuse: RefusalOf<'too_many_requests'> }
}

/** Counts the requests of each key, and of all callers of an account together. */
export class RequestLimits {
  readonly #dependencies: RequestLimitsDependencies

  constructor(dependencies: RequestLimitsDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Counts a request. One that the limit of its key refuses does not count towards that of the account, which other
   * keys share.
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
