import t from 'tap'
import { FREE_EVENTS } from '../../../src/domain/account/limits.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import { AccountMailboxes } from '../../../src/services/accounts/account-mailboxes.ts'
import {
  accountId,
  createKey,
  grantCredits,
  keyId,
  openAccount,
  queueRun,
  testMode,
} from '../../support/account-samples.ts'
import { ambient, noSnapshots, openLog, openViews } from '../../support/engine.ts'
import { projectorOf, readsOf } from '../../support/views.ts'

const caller = { kind: 'service' } as const

const twoProcesses = (log: EventLog) => {
  const start = () => new AccountMailboxes({ log, snapshots: noSnapshots, ...ambient() })
  return [start(), start()] as const
}

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
  const [ours, theirs] = twoProcesses(log)
  await ours.execute(caller, accountId(1), openAccount())
  await theirs.execute(caller, accountId(1), grantCredits(1))
  ours.onViewsChanged([{ view: 'balance', key: accountId(1), row: undefined }])
  t.match(await ours.shownState(accountId(1)), { balanceMicros: 101_000_000 })
})

t.test('two processes together write no more free events than one', async t => {
  const log = await openLog(t)
  const processes = twoProcesses(log)
  for (const command of [openAccount(), createKey(1, 'full', testMode)])
    await processes[0].execute(caller, accountId(), command)
  const owner = { kind: 'key', accountId: accountId(), keyId: keyId(), scope: 'full', ...testMode } as const
  // Seven such runs pass the limit by far more than is forgotten during the test.
  const metadata = { text: 'x'.repeat(FREE_EVENTS.testRuns.limitBytes / 6.5) }
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      processes[index % 2]?.execute(owner, accountId(), queueRun({ run: index + 1, askedWith: 1, metadata })),
    ),
  )
  const refused = outcomes.filter(outcome => outcome && 'refuse' in outcome)
  t.equal(outcomes.length - refused.length, 7)
  t.match(refused[0], { refuse: { code: 'too_many_free_events', of: 'testRuns' } })
})
