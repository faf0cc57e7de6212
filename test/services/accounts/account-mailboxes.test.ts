import t from 'tap'
import { AccountMailboxes } from '../../../src/services/accounts/account-mailboxes.ts'
import { accountId, grantCredits, openAccount } from '../../support/account-samples.ts'
import { ambient, noSnapshots, openLog, openViews } from '../../support/engine.ts'
import { projectorOf, readsOf } from '../../support/views.ts'

const caller = { kind: 'service' } as const

t.test('an account that has left memory still reads its own writes', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const accounts = new AccountMailboxes({ log, snapshots: noSnapshots, ...ambient(), maxInMemory: 1 })
  const projector = projectorOf(log, views)
  t.teardown(() => projector.stop())
  const reads = readsOf(views, projector.progress, accounts)
  for (const account of [2, 1]) await accounts.execute(caller, accountId(account), openAccount({ account }))
  const granted = await accounts.execute(caller, accountId(1), grantCredits(1))
  const position = 'refuse' in granted ? Number.NaN : granted.position
  const balance = () => reads.getOwn(accountId(1), 'balance', accountId(1))

  await accounts.state(accountId(2))
  t.equal(accounts.lastPosition(accountId(1)), position, 'account 2 took its place')
  const waiting = balance()
  const loading = accounts.state(accountId(1))
  t.equal(accounts.lastPosition(accountId(1)), position, 'it returns and is not read yet')
  const waitingToo = balance()
  await loading
  // Until now the views were empty.
  await projector.start()
  for (const row of await Promise.all([waiting, waitingToo])) t.match(row, { balanceMicros: 101_000_000 })
})

t.test('an account that leaves memory during a write still reads that write', async t => {
  const log = await openLog(t)
  const accounts = new AccountMailboxes({ log, snapshots: noSnapshots, ...ambient(), maxInMemory: 1 })
  for (const account of [1, 2]) await accounts.execute(caller, accountId(account), openAccount({ account }))
  const granting = accounts.execute(caller, accountId(1), grantCredits(1))
  await accounts.state(accountId(2))
  await accounts.state(accountId(1))
  const granted = await granting
  t.equal(accounts.lastPosition(accountId(1)), 'refuse' in granted ? Number.NaN : granted.position)
  t.match(await accounts.recentState(accountId(1)), { balanceMicros: 101_000_000 })
})

t.test('an account is shown at least as new as its views', async t => {
  const log = await openLog(t)
  const [ours, theirs] = [1, 2].map(() => new AccountMailboxes({ log, snapshots: noSnapshots, ...ambient() })) as [
    AccountMailboxes,
    AccountMailboxes,
  ]
  await ours.execute(caller, accountId(1), openAccount())
  await theirs.execute(caller, accountId(1), grantCredits(1))
  ours.onViewsChanged([{ view: 'balance', key: accountId(1), row: undefined }])
  t.match(await ours.shownState(accountId(1)), { balanceMicros: 101_000_000 })
})
