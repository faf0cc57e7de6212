import t from 'tap'
import { accountStream } from '../../schemas/events.ts'
import type { AccountId } from '../../schemas/primitives.ts'
import { toMicros } from '../../src/domain/money.ts'
import { picture, sandbox } from '../support/client.ts'
import { collect } from '../support/collect.ts'
import { loseDispute, useUpPurchase } from '../support/debts.ts'
import { auditFolder } from '../support/ledger.ts'
import { count, requestFromBoth } from '../support/request-from-both.ts'
import { type Customer, openAccount, openFolder, openKey } from '../support/service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { isLong, TEST_TIMEOUT_MS } from '../support/test-length.ts'
import { unwrap } from '../support/unwrap.ts'

// Each limit, by many requests to two processes at once. `spenders-at-once` has every way to spend, in one process.

t.setTimeout(TEST_TIMEOUT_MS)

const REQUESTS = 1000
const RICH = { credits: 100_000 }

/** Room for twelve pictures of 10 credits, less a microcredit for another. */
const ROOM = 129.999_999
const IN_FLIGHT = 3

const operator = { kind: 'operator', name: 'test' } as const

t.test('two processes never pass a limit', { skip: !isLong && 'in the long form only' }, async t => {
  const folder = await temporaryFolder(t)
  const core = await openFolder(folder)
  const { accounts, services } = core
  const of = { core, url: 'http://localhost' }
  const [poor, rich, busy, suspended, owing] = [
    await openAccount(of, { credits: ROOM }),
    await openAccount(of, RICH),
    await openAccount(of, { ...RICH, tester: true }),
    await openAccount(of, RICH),
    await openAccount(of, RICH),
  ]
  const keyed = await openKey(of, await openAccount(of, RICH), {
    budget: { amountMicros: toMicros(ROOM), period: 'month' },
  })
  unwrap(await services.accounts.setLimits(operator, busy.accountId, { runsInFlight: IN_FLIGHT }))
  await useUpPurchase(accounts, owing.accountId)
  const processes = await Promise.all([startServiceProcess(t, folder), startServiceProcess(t, folder)])
  const ask = (customer: Customer, request: object) =>
    requestFromBoth(
      processes.map(({ url }) => customer.at(url)),
      REQUESTS,
      request,
    )
  const typesOf = async (accountId: AccountId) =>
    (await collect(core.log.readStream(accountStream(accountId), 0))).map(({ type }) => type)
  const debitsOf = async (accountId: AccountId) =>
    (await typesOf(accountId)).filter(type => type === 'CreditsDebited').length

  for (const [limit, customer] of [
    ['the balance', poor],
    ['the budget of a key', keyed],
  ] as const)
    await t.test(limit, async t => {
      const replies = await ask(customer, picture)
      t.same([count(replies, 200), count(replies, 402)], [12, REQUESTS - 12])
      t.equal(await debitsOf(customer.accountId), 12)
    })

  await t.test('max_credits', async t => {
    const replies = await ask(rich, { ...picture, max_credits: 9.999_999 })
    t.equal(count(replies, 400), REQUESTS)
    t.equal(await debitsOf(rich.accountId), 0)
  })

  await t.test('runs in flight', async t => {
    const replies = await ask(busy, sandbox({ delay_ms: 1000 }))
    t.equal(count(replies, 200) + count(replies, 429), REQUESTS)
    let [open, most] = [0, 0]
    for (const type of await typesOf(busy.accountId)) {
      if (type === 'CreditsDebited') open += 1
      if (type === 'RunCompleted') open -= 1
      most = Math.max(most, open)
    }
    t.equal(most, IN_FLIGHT)
  })

  for (const [limit, customer, event, status, end] of [
    [
      'the suspension',
      suspended,
      'AccountSuspended',
      403,
      () => services.accounts.suspend(operator, suspended.accountId, 'unpaid'),
    ],
    ['debt', owing, 'CreditsOwed', 402, () => loseDispute(accounts, owing.accountId)],
  ] as const)
    await t.test(limit, async t => {
      const [replies] = await Promise.all([ask(customer, picture), end()])
      const types = await typesOf(customer.accountId)
      t.notOk(types.slice(types.indexOf(event)).includes('CreditsDebited'))
      const accepted = await debitsOf(customer.accountId)
      t.same([count(replies, 200), count(replies, status)], [accepted, REQUESTS - accepted])
      t.ok(types.includes(event) && accepted < REQUESTS, `${accepted} runs were faster`)
    })

  await t.test('the log has no fault', async t => {
    await Promise.all(processes.map(process => process.end('SIGTERM')))
    await core.close()
    t.same((await auditFolder(folder)).faults, [])
  })
})
