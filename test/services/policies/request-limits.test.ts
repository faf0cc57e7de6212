import t from 'tap'
import type { AccountLimits } from '../../../schemas/account-events.ts'
import { initialAccount } from '../../../src/domain/account/state.ts'
import { RequestLimits } from '../../../src/services/policies/request-limits.ts'
import { accountId, keyId } from '../../support/account-samples.ts'

const NONE = Number.POSITIVE_INFINITY

/** Limits on a counter that never begins another window, and the names that were counted. */
const limitsOf = (perMinute: { perKey: number; perAccount: number }, limits: AccountLimits = {}) => {
  const counts = new Map<string, number>()
  const counter = {
    count: async (name: string) => {
      const count = (counts.get(name) ?? 0) + 1
      counts.set(name, count)
      return { count, leftMs: 30_000 }
    },
    close: () => undefined,
  }
  const accounts = { recentState: async () => ({ ...initialAccount, limits }) }
  return { limits: new RequestLimits({ accounts, counter, perMinute }), counts }
}

const key = (number = 1) => ({ kind: 'key', accountId: accountId(), keyId: keyId(number), scope: 'full' }) as const
const owner = { kind: 'session', accountId: accountId(), sessionId: 'sess_01h2xcejqtf2nbrexx3vqjhp41' } as const

t.test('a request counts towards the limits of its key and its account', async t => {
  const { limits } = limitsOf({ perKey: 2, perAccount: 3 })
  t.same(await limits.count(key()), {
    statuses: [
      { of: 'key', limit: 2, left: { requests: 1, ms: 30_000 } },
      { of: 'account', limit: 3, left: { requests: 2, ms: 30_000 } },
    ],
  })
  t.same((await limits.count(owner)).statuses, [{ of: 'account', limit: 3, left: { requests: 1, ms: 30_000 } }])
})

t.test('a key beyond its limit does not use up that of its account', async t => {
  const { limits, counts } = limitsOf({ perKey: 2, perAccount: 3 })
  for (let request = 0; request < 2; request++) t.equal((await limits.count(key())).refusal, undefined)
  for (let request = 0; request < 5; request++)
    t.same(await limits.count(key()), {
      statuses: [
        { of: 'key', limit: 2, left: { requests: 0, ms: 30_000 } },
        { of: 'account', limit: 3 },
      ],
      refusal: { refuse: { code: 'too_many_requests', of: 'key', limit: 2, retryAfterMs: 30_000 } },
    })
  t.equal(counts.get(accountId()), 2)
  t.equal((await limits.count(key(2))).refusal, undefined, 'another key is not affected')
  t.match((await limits.count(key(3))).refusal, { refuse: { of: 'account', limit: 3 } })
})

t.test('an exception holds for all keys together', async t => {
  const { limits } = limitsOf({ perKey: 1, perAccount: 1 }, { requestsPerMinute: 3 })
  for (const left of [2, 1, 0])
    t.match(await limits.count(key(left)), { statuses: [{ of: 'account', limit: 3, left: { requests: left } }] })
  t.match((await limits.count(key())).refusal, { refuse: { of: 'account', limit: 3 } })
})

t.test('without a limit, nothing is counted', async t => {
  const { limits, counts } = limitsOf({ perKey: NONE, perAccount: NONE })
  t.same(await limits.count(key()), { statuses: [] })
  t.equal(counts.size, 0)
  t.same((await limitsOf({ perKey: NONE, perAccount: 1 }).limits.count(key())).statuses.length, 1)
})
