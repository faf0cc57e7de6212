import { type LimitPair, limitOf } from '../../domain/account/limits.ts'
import type { RefusalOf } from '../../domain/refusal.ts'
import type { RateCounter } from '../../ports/rate-counter.ts'
import type { AccountMailboxes } from '../accounts/account-mailboxes.ts'
import { type AccountCaller, keyIdOf } from '../caller.ts'

export interface RequestLimitsParts {
  accounts: Pick<AccountMailboxes, 'recentState'>
  counter: RateCounter
  /** The limits of accounts without exceptions. */
  perMinute: LimitPair
}

/** A limit of requests per minute, and how it stands. */
export interface Standing {
  of: 'key' | 'account'
  limit: number
  /** Undefined if the request was not counted towards it. */
  left?: { requests: number; ms: number }
}

/** The request is refused if it goes beyond a limit. */
export interface CountedRequest {
  standings: Standing[]
  refusal?: { refuse: RefusalOf<'too_many_requests'> }
}

/** Counts the requests of each key, and of all callers of an account together. */
export class RequestLimits {
  readonly #parts: RequestLimitsParts

  constructor(parts: RequestLimitsParts) {
    this.#parts = parts
  }

  /**
   * Counts a request. One that the limit of its key refuses does not count towards that of the account, which other
   * keys share.
   */
  async count(caller: AccountCaller): Promise<CountedRequest> {
    const { accounts, counter, perMinute } = this.#parts
    const { accountId } = caller
    const keyId = keyIdOf(caller)
    const limits = limitOf('requestsPerMinute', await accounts.recentState(accountId), perMinute)
    const standings: Standing[] = [
      ...(keyId && limits.perKey !== NONE ? [{ of: 'key', limit: limits.perKey } as const] : []),
      ...(limits.perAccount !== NONE ? [{ of: 'account', limit: limits.perAccount } as const] : []),
    ]
    for (const standing of standings) {
      const { of, limit } = standing
      const { count, leftMs } = await counter.count(of === 'key' ? (keyId as string) : accountId)
      standing.left = { requests: Math.max(0, limit - count), ms: leftMs }
      if (count > limit) {
        return { standings, refusal: { refuse: { code: 'too_many_requests', of, limit, retryAfterMs: leftMs } } }
      }
    }
    return { standings }
  }
}

const NONE = Number.POSITIVE_INFINITY
