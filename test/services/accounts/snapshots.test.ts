import t, { type Test } from 'tap'
import { accountStream } from '../../../schemas/recorded.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import type { AccountState } from '../../../src/domain/account/state.ts'
import { toMicros } from '../../../src/domain/money.ts'
import type { Snapshots } from '../../../src/engine/streams/snapshots.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { Snapshot } from '../../../src/ports/view-store.ts'
import { Accounts } from '../../../src/services/accounts/accounts.ts'
import { accountSnapshots } from '../../../src/services/accounts/snapshots.ts'
import {
  accountId,
  createKey,
  grantCredits,
  grantUpload,
  openAccount,
  queueRun,
  recordUploadDeletion,
  requestUploadDeletion,
  revokeKey,
  startRun,
  storeUpload,
  submitRun,
  uploadId,
} from '../../support/account-samples.ts'
import { noSnapshots, openLog, openViews } from '../../support/engine.ts'
import { ManualClock } from '../../support/manual-clock.ts'

const STREAM = accountStream(accountId())
const cause = { actor: { kind: 'service' } } as const

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

/** An account with something in every corner of its state, and a tail that is worth a snapshot. */
const lived: AccountCommand[] = [
  openAccount({ tester: true }),
  ...[createKey(1), createKey(2), createKey(3), revokeKey(2)],
  ...[1, 2, 3].map(run => queueRun({ run, key: `request-${run}` })),
  ...[startRun(2), startRun(3), submitRun(3)],
  ...[1, 2, 3, 4, 5].map(upload => grantUpload({ upload })),
  ...[storeUpload(2), storeUpload(3, { sealed: true }), requestUploadDeletion(4), recordUploadDeletion(5)],
  ...upTo(1200).map(() => grantCredits(1)),
]

const accountsOf = (log: EventLog, snapshots: Snapshots<AccountState> = noSnapshots) =>
  new Accounts(log, snapshots, new ManualClock())

/** Whether a mailbox that loads the account now has the state that the whole stream gives. */
const loadsTheTruth = async (t: Test, log: EventLog, snapshots: Snapshots<AccountState>) => {
  const [loaded, truth] = await Promise.all(
    [snapshots, noSnapshots].map(kept => accountsOf(log, kept).state(accountId())),
  )
  t.same(plain(loaded), plain(truth))
  t.equal(loaded?.balanceMicros, toMicros(100 - 30 + 1200))
}

const plain = (state: AccountState | undefined) =>
  state && {
    ...state,
    activeKeys: state.activeKeys.toJS(),
    openRuns: state.openRuns.toJS(),
    uploads: state.uploads.toJS(),
    requests: [...state.requests],
  }

/** A log with that account, and views that hold a snapshot of it. */
const openLived = async (t: Test) => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const accounts = accountsOf(log, accountSnapshots(views))
  await Promise.all(lived.map(command => accounts.execute(accountId(), command, cause)))
  // The snapshot is written beside the answer, so it may come a moment later.
  let snapshot: Snapshot | undefined
  while (!snapshot) snapshot = await views.loadSnapshot(STREAM)
  return { log, views, snapshot }
}

t.test('an account is loaded from its snapshot and what came after', async t => {
  const { log, views, snapshot } = await openLived(t)
  const reads: number[] = []
  const watched: EventLog = {
    ...log,
    readStream: (stream, fromRevision) => {
      reads.push(fromRevision)
      return log.readStream(stream, fromRevision)
    },
  }
  await accountsOf(watched, accountSnapshots(views)).state(accountId())
  t.ok(snapshot.revision >= 999)
  t.same(reads, [snapshot.revision, snapshot.revision + 1])
  await loadsTheTruth(t, log, accountSnapshots(views))
  const { uploads } = await accountsOf(log, accountSnapshots(views)).state(accountId())
  const stages = { 1: 'granted', 2: 'stored', 3: 'sealed', 4: 'deleting' }
  t.same(
    uploads.toJS(),
    Object.fromEntries(Object.entries(stages).map(([number, stage]) => [uploadId(+number), stage])),
  )
})

t.test('without its snapshot an account is the same', async t => {
  const { log, views } = await openLived(t)
  await views.deleteSnapshots()
  await loadsTheTruth(t, log, accountSnapshots(views))
})

t.test('a snapshot that does not belong to the log is ignored', async t => {
  const { log, views, snapshot } = await openLived(t)
  const foreign: Record<string, Partial<Snapshot>> = {
    'it has another hash': { hash: 'f'.repeat(64) },
    'it lies beyond the end': { revision: 100_000 },
    'it names another revision': { revision: snapshot.revision - 1 },
    'it has another form': { version: 0 },
  }
  for (const [name, change] of Object.entries(foreign))
    await t.test(name, async t => {
      const state = { ...(snapshot.state as object), balanceMicros: 1 }
      await views.saveSnapshot(STREAM, { ...snapshot, state, ...change })
      await loadsTheTruth(t, log, accountSnapshots(views))
    })
})

t.test('a snapshot of another log is ignored', async t => {
  const { snapshot } = await openLived(t)
  const [log, views] = [await openLog(t), await openViews(t)]
  await accountsOf(log).execute(accountId(), openAccount({ welcome: 7 }), cause)
  await views.saveSnapshot(STREAM, snapshot)
  const { balanceMicros } = await accountsOf(log, accountSnapshots(views)).state(accountId())
  t.equal(balanceMicros, toMicros(7))
})

t.test('a short tail is not worth a snapshot', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const snapshots = accountSnapshots(views)
  const accounts = accountsOf(log, snapshots)
  await accounts.execute(accountId(), openAccount(), cause)
  const folded = { revision: 1000, hash: '', state: await accounts.state(accountId()), position: 0 }
  t.equal(await snapshots.offer(STREAM, folded, 1), false)
  t.equal(await views.loadSnapshot(STREAM), undefined)
  t.equal(await snapshots.offer(STREAM, folded, 0), true)
})

t.test('views that take no snapshot do no harm', async t => {
  const log = await openLog(t)
  const broken: Snapshots<AccountState> = { ...noSnapshots, offer: () => Promise.reject(new Error('the disk is full')) }
  const accounts = accountsOf(log, broken)
  t.match(await accounts.execute(accountId(), openAccount(), cause), { accept: [{}, {}] })
  t.match(await accounts.execute(accountId(), grantCredits(1), cause), { accept: [{}] })
})
