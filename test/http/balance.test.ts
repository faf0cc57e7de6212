import t from 'tap'
import { toMicros } from '../../src/domain/money.ts'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })

t.test('a new account has 100 credits', async t => {
  const customer = await openAccount(service)
  const { status, body } = await customer.send('/v1/balance')
  t.equal(status, 200)
  t.same(body, { object: 'balance', credits_balance: 100 })
})

t.test('credits are a number with its fraction', async t => {
  const customer = await openAccount(service, { credits: 0.000001 })
  t.equal(await customer.balance(), 0.000001)
})

t.test('the balance shows a debit as soon as its run is answered', async t => {
  const customer = await openAccount(service)
  for (const expected of [90, 80, 70]) {
    await customer.run(picture)
    t.equal(await customer.balance(), expected)
  }
})

t.test('the balance shows a grant, and each account has its own', async t => {
  const [rich, poor] = await Promise.all([openAccount(service), openAccount(service)])
  const { accounts } = service.core
  const grant = { type: 'GrantCredits', amountMicros: toMicros(50), reason: 'a gift' } as const
  await accounts.execute(rich.accountId, grant, { actor: { kind: 'operator' } })
  t.equal(await rich.balance(), 150)
  t.equal(await poor.balance(), 100)
})
