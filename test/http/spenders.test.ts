import t from 'tap'
import type { AccountLimits } from '../../schemas/account-events.ts'
import type { ErrorCode } from '../../schemas/api/error.ts'
import { toMicros } from '../../src/domain/money.ts'
import type { NewKey } from '../../src/services/accounts/api-keys.ts'
import type { Spender } from '../../src/services/runs/runs.ts'
import { caughtUp } from '../support/caught-up.ts'
import { loseDispute, useUpPurchase } from '../support/debts.ts'
import { doneFor } from '../support/done.ts'
import { type Customer, openAccount, openKey, startService } from '../support/service.ts'
import { speakingProvider } from '../support/speaking-provider.ts'
import { type Ceiling, ceilings, spendersOf, withoutKey } from '../support/spenders.ts'
import { unwrap } from '../support/unwrap.ts'

const { provider, nextCall, calls } = speakingProvider()
const service = await startService(t, { providers: { sandbox: provider } })
const { accounts, keys } = service.core.services
const { spenders, browserOf } = await spendersOf(service)
const operator = { kind: 'operator', name: 'test' } as const

/** A customer whose key has limits. */
const withKey = async (limits: Omit<NewKey, 'name'>) => openKey(service, await openAccount(service), limits)

const withLimits = async (limits: AccountLimits) => {
  const customer = await openAccount(service)
  unwrap(await accounts.setLimits(operator, customer.accountId, limits))
  return customer
}

const forbidden = { status: 403, code: 'forbidden', ofKey: true } as const

interface Limit {
  arrange: () => Promise<Customer>
  status: number
  code: ErrorCode
  ofKey?: true
  /** What each request says, for limits that are a request's own. */
  ceiling?: Ceiling
}

/** Every limit: a customer who has reached it, and what the next request gets. */
const limits: Record<string, Limit> = {
  balance: {
    arrange: () => openAccount(service, { credits: 0.001 }),
    ...{ status: 402, code: 'insufficient_credits' },
  },
  // Although there are other credits.
  debt: {
    arrange: async () => {
      const customer = await openAccount(service)
      await useUpPurchase(service.core.accounts, customer.accountId)
      await loseDispute(service.core.accounts, customer.accountId)
      return customer
    },
    ...{ status: 402, code: 'insufficient_credits' },
  },
  'budget of the key': {
    arrange: () => withKey({ budget: { amountMicros: toMicros(0.001), period: 'day' } }),
    ...{ status: 402, code: 'budget_exceeded', ofKey: true },
  },
  'a named budget': {
    arrange: async () => {
      const customer = await openAccount(service)
      t.equal((await customer.post('/v1/budgets', { name: 'task', credits: 0.001 })).status, 201)
      return customer
    },
    ceiling: { budget: 'task' },
    ...{ status: 402, code: 'budget_exceeded' },
  },
  'a budget that does not exist': {
    arrange: () => openAccount(service),
    ceiling: { budget: 'none' },
    ...{ status: 400, code: 'budget_not_found' },
  },
  max_credits: {
    arrange: () => openAccount(service),
    ceiling: { max_credits: 0.001 },
    ...{ status: 400, code: 'price_above_limit' },
  },
  'models of the key': { arrange: () => withKey({ models: ['veo-3-1'] }), ...forbidden },
  'addresses of the key': { arrange: () => withKey({ addresses: ['192.0.2.0/24'] }), ...forbidden },
  'scope of the key': { arrange: () => withKey({ scope: 'read' }), ...forbidden },
  'a revoked key': {
    arrange: async () => {
      const customer = await withKey({})
      unwrap(await keys.revoke(operator, customer.accountId, customer.keyId))
      await caughtUp(service.core)
      return customer
    },
    ...{ status: 401, code: 'invalid_api_key', ofKey: true },
  },
  suspension: {
    arrange: async () => {
      const customer = await openAccount(service)
      // Nobody signs in to a suspended account.
      await browserOf(customer)
      unwrap(await accounts.suspend(operator, customer.accountId, 'unpaid'))
      return customer
    },
    ...{ status: 403, code: 'account_suspended' },
  },
  'requests a minute': {
    arrange: async () => {
      const customer = await withLimits({ requestsPerMinute: 1 })
      await customer.send('/v1/models')
      return customer
    },
    ...{ status: 429, code: 'rate_limited' },
  },
  'runs in flight': {
    arrange: async () => {
      const customer = await withLimits({ runsInFlight: 1 })
      void customer.run({ model: 'nano-banana-2', input: { prompt: 'first' } }).catch(() => undefined)
      await nextCall()
      return customer
    },
    ...{ status: 429, code: 'rate_limited' },
  },
}

for (const [spender, spend] of Object.entries(spenders)) {
  t.test(`${spender} spends credits`, async t => {
    const customer = await openAccount(service)
    const spent = spend(customer)
    const { job, end } = await nextCall()
    end(doneFor(job))
    t.same((await spent).code, undefined)
    t.ok((await customer.balance()) < 100)
  })

  for (const [limit, { arrange, status, code, ofKey, ceiling }] of Object.entries(limits)) {
    if (ofKey && withoutKey.includes(spender as Spender)) continue
    const isHeld = ceiling === undefined || ceilings[spender as Spender] === 'held'
    if (ceiling && ceilings[spender as Spender] === 'ignored') continue
    t.test(`${spender} holds to the limit: ${limit}`, async t => {
      const customer = await arrange()
      const before = (await service.core.accounts.state(customer.accountId)).balanceMicros
      const answer = await spend(customer, ceiling)
      t.same(answer.code, isHeld ? code : 'invalid_input')
      if (answer.status !== undefined) t.equal(answer.status, isHeld ? status : 400)
      t.equal((await service.core.accounts.state(customer.accountId)).balanceMicros, before)
      t.equal(calls.length, 0, 'no provider is asked')
    })
  }
}
