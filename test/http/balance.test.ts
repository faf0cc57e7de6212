import t from 'tap'
import { grantCredits } from '../support/account-samples.ts'
import { picture } from '../support/client.ts'
import { instantProvider, openAccount, startService } from '../support/service.ts'

const service = await startService(t, { providers: { sandbox: instantProvider } })

t.test('a new account has 100 credits', async t => {
  const customer = await openAccount(service)
  const { status, headers, body } = await customer.send('/v1/balance')
  t.equal(status, 200)
  t.equal(headers.get('Vary'), null, 'pages of other sites may not call')
  t.same(body, { object: 'balance', credits_balance: 100, credits_paid: 0, credits_free: 100, credits_held: 0 })
})

t.test('credits are a number with a fraction', async t => {
  const customer = await openAccount(service, { credits: 0.000001 })
  t.equal(await customer.balance(), 0.000001)
})

t.test('the balance includes the debit of a run as soon as the run is answered', async t => {
  const customer = await openAccount(service)
  for (const expected of [90, 80, 70]) {
    await customer.run(picture)
    t.equal(await customer.balance(), expected)
  }
})

t.test('a grant changes the balance of its account only', async t => {
  const [rich, poor] = await Promise.all([openAccount(service), openAccount(service)])
  const { accounts } = service.core
  await accounts.execute({ kind: 'operator', name: 'test' }, rich.accountId, grantCredits(50))
  t.equal(await rich.balance(), 150)
  t.equal(await poor.balance(), 100)
})
