import t from 'tap'
import type { BudgetList, NamedBudget } from '../../schemas/api/budget.ts'
import type { ErrorBody } from '../../schemas/api/error.ts'
import type { LedgerList } from '../../schemas/api/ledger.ts'
import { call, connect, refusal } from '../mcp/support.ts'
import { BrowserClient } from '../support/browser-client.ts'
import { picture } from '../support/client.ts'
import { doneFor } from '../support/done.ts'
import { type Customer, openAccount, openKey, startService } from '../support/service.ts'
import { unwrap } from '../support/unwrap.ts'

const service = await startService(t, {
  providers: {
    sandbox: {
      deduplicates: true,
      submit: async job =>
        job.input['prompt'] === 'fail' ? { kind: 'failed', code: 'provider_error', message: 'No.' } : doneFor(job),
    },
  },
})
const operator = { kind: 'operator', name: 'test' } as const

const toCredits = (amount: number) => Math.round(amount * 1_000_000) / 1_000_000

const set = (customer: Customer, budget: object) => customer.post<NamedBudget & ErrorBody>('/v1/budgets', budget)
const get = (customer: Customer, name: string) =>
  customer.send<NamedBudget & ErrorBody>(`/v1/budgets/${encodeURIComponent(name)}`)
const remove = (customer: Customer, name: string) =>
  customer.send<ErrorBody>(`/v1/budgets/${encodeURIComponent(name)}`, { method: 'DELETE' })

t.test('a budget limits the runs that name it, and no others', async t => {
  const customer = await openAccount(service)
  const made = await set(customer, { name: 'a task', credits: 25 })
  t.equal(made.status, 201)
  t.same(made.body, { object: 'budget', name: 'a task', credits: 25, spent_credits: 0, credits_left: 25 })
  for (let run = 1; run <= 2; run++)
    t.match(await customer.run({ ...picture, budget: 'a task' }), { status: 200, body: { budget: 'a task' } })
  const { status, body } = await customer.run({ ...picture, budget: 'a task' })
  t.equal(status, 402)
  t.match(body.error, {
    ...{ code: 'budget_exceeded', budget: 'a task', required_credits: 10, budget_credits: 25, spent_credits: 20 },
    message: /20 of the budget "a task" of 25 credits are spent\. Raise the budget/,
  })
  t.notOk('renews_at' in body.error)
  t.match((await get(customer, 'a task')).body, { spent_credits: 20, credits_left: 5 })
  const { body: ledger } = await customer.send<LedgerList>('/v1/ledger?kind=debit')
  t.match(ledger.data, [{ budget: 'a task' }, { budget: 'a task' }], 'the ledger names it')
  t.equal(await customer.balance(), 80)
  t.equal((await customer.run(picture)).status, 200)
  const raised = await set(customer, { name: 'a task', credits: 30 })
  t.equal(raised.status, 200)
  t.match(raised.body, { credits: 30, spent_credits: 20, credits_left: 10 })
  t.equal((await customer.run({ ...picture, budget: 'a task' })).status, 200)
})

t.test('runs that fail, and refunds of completed ones, give back to the budget', async t => {
  const customer = await openAccount(service)
  await set(customer, { name: 'b', credits: 10, period: 'month' })
  const failed = await customer.run({ ...picture, input: { prompt: 'fail' }, budget: 'b' })
  t.equal(failed.body.status, 'failed')
  t.match((await get(customer, 'b')).body, { spent_credits: 0, renews_at: /^\d{4}-\d\d-01T00:00:00.000Z$/ })
  const { body } = await customer.run({ ...picture, budget: 'b' })
  t.match((await customer.run({ ...picture, budget: 'b' })).body.error, { budget: 'b', renews_at: /-01T/ })
  const { refunds } = service.core.services
  unwrap(await refunds.refund(operator, body.run_id, { amountMicros: 4_000_000, reason: 'it was black' }))
  t.match((await get(customer, 'b')).body, { spent_credits: 6, credits_left: 4 })
})

t.test('what a text did not need is released to the budget', async t => {
  const customer = await openAccount(service)
  await set(customer, { name: 'text', credits: 50 })
  const text = { model: 'gpt-6-1-terra', input: { prompt: 'hello' }, budget: 'text' }
  const { body } = await customer.run(text)
  const { credits_charged: charged, credits_released: released = 0 } = body
  t.ok(released > 0)
  t.equal((await get(customer, 'text')).body.spent_credits, toCredits(charged - released))
  t.equal(await customer.balance(), toCredits(100 - charged + released))
})

t.test('an unknown budget is refused, also in dry runs and with test keys, and nothing is charged', async t => {
  const customer = await openAccount(service)
  const tests = await openKey(service, customer, { livemode: false })
  for (const caller of [customer, tests])
    for (const path of ['/v1/run', '/v1/run?dry_run=true']) {
      const { status, body } = await caller.post<ErrorBody>(path, { ...picture, budget: 'none' })
      t.equal(status, 400)
      t.match(body.error, { code: 'budget_not_found', errors: [{ path: '/budget' }] })
    }
  t.equal(await customer.balance(), 100)
})

t.test('a test run spends nothing of its budget', async t => {
  const customer = await openAccount(service)
  const tests = await openKey(service, customer, { livemode: false })
  await set(customer, { name: 'c', credits: 5 })
  t.equal((await tests.run({ ...picture, budget: 'c' })).status, 200)
  t.equal((await get(tests, 'c')).body.spent_credits, 0)
})

t.test('a removed budget is gone, and one of its name begins anew', async t => {
  const customer = await openAccount(service)
  await set(customer, { name: 'd', credits: 10 })
  await customer.run({ ...picture, budget: 'd' })
  t.match((await remove(customer, 'd')).body, { object: 'budget', name: 'd', removed: true })
  t.equal((await remove(customer, 'd')).status, 404)
  t.equal((await get(customer, 'd')).status, 404)
  t.equal((await customer.run({ ...picture, budget: 'd' })).body.error.code, 'budget_not_found')
  t.match((await set(customer, { name: 'd', credits: 10 })).body, { spent_credits: 0 })
})

t.test('a budget that is removed right after it was set is answered as it was set', async t => {
  const customer = await openAccount(service)
  const { accounts } = service.core
  const execute = accounts.execute.bind(accounts)
  accounts.execute = async (caller, accountId, command) => {
    const outcome = await execute(caller, accountId, command)
    if (command.type === 'SetBudget') await execute(caller, accountId, { type: 'RemoveBudget', name: command.name })
    return outcome
  }
  const { status, body } = await set(customer, { name: 'task', credits: 5, period: 'day' })
  accounts.execute = execute
  t.equal(status, 201)
  t.match(body, { name: 'task', credits: 5, spent_credits: 0, credits_left: 5, period: 'day', renews_at: String })
  t.equal((await get(customer, 'task')).status, 404)
})

t.test('budgets are listed by name, in pages', async t => {
  const customer = await openAccount(service)
  const names = ['Z', 'a', 'a/b', 'é', '日本', '%2F', 'a b?']
  for (const name of names) t.equal((await set(customer, { name, credits: 1 })).status, 201)
  const listed: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const { body } = await customer.send<BudgetList>(`/v1/budgets?limit=3${query}`)
    listed.push(...body.data.map(({ name }) => name))
    t.equal(body.has_more, body.next_cursor !== null)
    cursor = body.next_cursor
  }
  t.same(
    listed,
    names.toSorted((one, other) => (one < other ? -1 : 1)),
  )
  for (const name of names) t.equal((await get(customer, name)).body.name, name)
  t.equal((await get(customer, 'e\u0301')).body.name, 'é', 'a name is in one form')
})

t.test('a budget that is no budget is refused', async t => {
  const customer = await openAccount(service)
  for (const [budget, path] of [
    [{ name: 'x', credits: 0 }, '/credits'],
    [{ name: 'x', credits: 0.0000001 }, '/credits'],
    [{ name: 'x' }, '/credits'],
    [{ name: '', credits: 1 }, '/name'],
    [{ name: '..', credits: 1 }, '/name'],
    [{ name: 'x'.repeat(65), credits: 1 }, '/name'],
    [{ name: 'x', credits: 1, period: 'year' }, '/period'],
  ] as const) {
    const { status, body } = await set(customer, budget)
    t.equal(status, 400)
    t.match(body.error.errors, [{ path }])
  }
})

t.test('a budget belongs to its account', async t => {
  const [one, other] = [await openAccount(service), await openAccount(service)]
  await set(one, { name: 'mine', credits: 1 })
  t.equal((await get(other, 'mine')).status, 404)
  t.equal((await remove(other, 'mine')).status, 404)
  t.same((await other.send<BudgetList>('/v1/budgets')).body.data, [])
})

t.test('the owner, signed in, sets and removes budgets', async t => {
  const owner = new BrowserClient(service.url)
  await owner.signIn(service, 'grace@example.com')
  t.equal((await owner.send('POST', '/v1/budgets', { name: 'e', credits: 2 })).status, 201)
  t.equal((await owner.send('DELETE', '/v1/budgets/e')).status, 200)
})

t.test('agents name a budget too', async t => {
  const customer = await openAccount(service)
  await set(customer, { name: 'agent', credits: 10 })
  const client = await connect(t, customer, '2025-11-25')
  t.match((await call(client, 'run_model', { ...picture, budget: 'agent' })).body, { status: 'completed' })
  t.match(await refusal(client, 'run_model', { ...picture, budget: 'agent' }), {
    code: 'budget_exceeded',
    budget: 'agent',
  })
  t.match(await refusal(client, 'quote_run', { ...picture, budget: 'none' }), { code: 'budget_not_found' })
})
