import t from 'tap'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import { fromMicros } from '../../src/domain/money.ts'
import type { Provider } from '../../src/ports/provider.ts'
import type { Spender } from '../../src/services/runs/runs.ts'
import { collect } from '../support/collect.ts'
import { loseDispute, useUpPurchase } from '../support/debts.ts'
import { doneFor } from '../support/done.ts'
import { type Customer, openAccount, openKey, startService } from '../support/service.ts'
import { type Answer, type Ceiling, ceilings, spendersOf, withoutKey } from '../support/spenders.ts'
import { isLong } from '../support/test-length.ts'
import { unwrap } from '../support/unwrap.ts'

// Every way to spend credits, held to every limit by many requests at the same time.

const REQUESTS = isLong ? 250 : 16

/** As many runs as a limit has room for. */
const ROOM = 3

/** Holds runs back while a gate is closed. */
let gate: Promise<void> = Promise.resolve()
const provider: Provider = {
  deduplicates: true,
  submit: async job => {
    await gate
    return doneFor(job)
  },
}

const service = await startService(t, { providers: { sandbox: provider } })
const { accounts } = service.core.services
const { spenders, browserOf } = await spendersOf(service)
const operator = { kind: 'operator', name: 'test' } as const

interface Money {
  amountMicros: number
  balanceAfterMicros: number
}

const eventsOf = (accountId: AccountId) => collect(service.core.log.readStream(accountStream(accountId), 0))

/** The debits of an account, the most that they were at a time less what was given back, and the least balance. */
const spendingOf = async (accountId: AccountId) => {
  let [debits, spentMicros, mostMicros, leastMicros] = [0, 0, 0, Number.POSITIVE_INFINITY]
  for (const { type, data } of await eventsOf(accountId)) {
    const { amountMicros, balanceAfterMicros = leastMicros } = data as Partial<Money>
    if (type === 'CreditsDebited') debits += 1
    if (type === 'CreditsDebited') spentMicros += amountMicros as number
    if (type === 'CreditsRefunded' || type === 'CreditsReleased') spentMicros -= amountMicros as number
    mostMicros = Math.max(mostMicros, spentMicros)
    leastMicros = Math.min(leastMicros, balanceAfterMicros)
  }
  return { debits, mostMicros, leastMicros }
}

interface Case {
  /** A customer whose limit has room for that much, and not for one microcredit more. */
  arrange: (roomMicros: number) => Promise<Customer>
  codes: string[]
  ofKey?: true
  ceiling?: Ceiling
}

interface Stop {
  first?: (customer: Customer) => Promise<unknown>
  stop: (customer: Customer) => Promise<unknown>
  /** The event of it, and what later requests get. */
  event: string
  code: string
}

/** More than any of the limits. */
const RICH = 100_000

const limits: Record<string, Case> = {
  balance: {
    arrange: roomMicros => openAccount(service, { credits: fromMicros(roomMicros) }),
    codes: ['insufficient_credits'],
  },
  'budget of the key': {
    arrange: async roomMicros =>
      openKey(service, await openAccount(service, { credits: RICH }), {
        budget: { amountMicros: roomMicros, period: 'month' },
      }),
    codes: ['budget_exceeded'],
    ofKey: true,
  },
  'a named budget': {
    arrange: async roomMicros => {
      const customer = await openAccount(service, { credits: RICH })
      await customer.post('/v1/budgets', { name: 'task', credits: fromMicros(roomMicros) })
      return customer
    },
    codes: ['budget_exceeded'],
    ceiling: { budget: 'task' },
  },
}

/** What stops all spending while requests arrive. */
const stops: Record<string, Stop> = {
  'the suspension': {
    stop: ({ accountId }) => accounts.suspend(operator, accountId, 'unpaid'),
    ...{ event: 'AccountSuspended', code: 'account_suspended' },
  },
  'a dispute of used credits': {
    first: ({ accountId }) => useUpPurchase(service.core.accounts, accountId),
    stop: ({ accountId }) => loseDispute(service.core.accounts, accountId),
    ...{ event: 'CreditsOwed', code: 'insufficient_credits' },
  },
}

/** Sends a request many times at once. */
const sendAll = (spend: () => Promise<Answer>) => Promise.all(Array.from({ length: REQUESTS }, spend))

const codesOf = (answers: Answer[]) => new Set(answers.flatMap(({ code }) => code ?? []))

for (const [name, spend] of Object.entries(spenders)) {
  const spender = name as Spender
  const pricing = (async () => {
    const customer = await openAccount(service, { credits: RICH })
    t.same((await spend(customer)).code, undefined)
    return (await spendingOf(customer.accountId)).mostMicros
  })()

  /** Pictures arrive before the charge, and only some may arrive at a time. */
  const refusalsOf = (answers: Answer[]) =>
    [...codesOf(answers)].filter(code => spender !== 'editImages' || code !== 'rate_limited')

  for (const [limit, { arrange, codes, ofKey, ceiling }] of Object.entries(limits)) {
    if ((ofKey && withoutKey.includes(spender)) || (ceiling && ceilings[spender] !== 'held')) continue
    t.test(`${spender} at once: never over the limit: ${limit}`, async t => {
      // One microcredit is missing for another run.
      const roomMicros = (ROOM + 1) * (await pricing) - 1
      const customer = await arrange(roomMicros)
      if (spender === 'playground') await browserOf(customer)
      const answers = await sendAll(() => spend(customer, ceiling))
      const { debits, mostMicros, leastMicros } = await spendingOf(customer.accountId)
      t.ok(mostMicros <= roomMicros, `${mostMicros} of ${roomMicros}`)
      t.ok(leastMicros >= 0)
      t.ok(debits >= ROOM && debits < REQUESTS, `${debits} debits`)
      t.equal(answers.filter(({ code }) => code === undefined).length, debits)
      t.same(refusalsOf(answers), codes)
    })
  }

  t.test(`${spender} at once: never over the limit: runs in flight`, async t => {
    const customer = await openAccount(service, { credits: RICH })
    if (spender === 'playground') await browserOf(customer)
    unwrap(await accounts.setLimits(operator, customer.accountId, { runsInFlight: ROOM }))
    let open = () => {}
    gate = new Promise(resolve => {
      open = resolve
    })
    let refused = 0
    const answers = await sendAll(async () => {
      const answer = await spend(customer)
      if (answer.code !== undefined && ++refused === REQUESTS - ROOM) open()
      return answer
    })
    gate = Promise.resolve()
    t.equal((await spendingOf(customer.accountId)).debits, ROOM)
    t.same([...codesOf(answers)], ['rate_limited'])
  })

  for (const [name, { first, stop, event, code }] of Object.entries(stops))
    t.test(`${spender} at once: nothing after ${name}`, async t => {
      const customer = await openAccount(service, { credits: RICH })
      if (spender === 'playground') await browserOf(customer)
      await first?.(customer)
      const [answers] = await Promise.all([sendAll(() => spend(customer)), stop(customer)])
      const types = (await eventsOf(customer.accountId)).map(({ type }) => type)
      t.ok(types.includes(event))
      const [before, after] = [types.slice(0, types.indexOf(event)), types.slice(types.indexOf(event))]
      t.notOk(after.includes('CreditsDebited'))
      const accepted = before.filter(type => type === 'CreditsDebited').length
      t.ok(accepted < REQUESTS, `${accepted} runs were faster`)
      t.same(refusalsOf(answers), [code])
    })

  if (ceilings[spender] === 'held')
    t.test(`${spender} at once: nothing above max_credits, and all up to it`, async t => {
      const price = await pricing
      const customer = await openAccount(service, { credits: RICH })
      const above = await sendAll(() => spend(customer, { max_credits: fromMicros(price - 1) }))
      t.same([...codesOf(above)], ['price_above_limit'])
      t.equal((await spendingOf(customer.accountId)).debits, 0)
      await sendAll(() => spend(customer, { max_credits: fromMicros(price) }))
      t.equal((await spendingOf(customer.accountId)).debits, REQUESTS)
    })
}
