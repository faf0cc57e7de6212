import { createHmac } from 'node:crypto'
import { isCollection, isOrdered } from 'immutable'
import t, { type Test } from 'tap'
import type { AccountEvent } from '../../../schemas/account-events.ts'
import { accountStream } from '../../../schemas/events.ts'
import { account } from '../../../src/domain/account/account.ts'
import type { AccountCommand } from '../../../src/domain/account/commands.ts'
import { type AccountState, initialAccount } from '../../../src/domain/account/state.ts'
import { sha256 } from '../../../src/domain/digest.ts'
import { toMicros } from '../../../src/domain/money.ts'
import { createSnapshots, type Snapshots } from '../../../src/engine/streams/snapshots.ts'
import type { EventLog } from '../../../src/ports/event-log.ts'
import type { Snapshot, ViewStore } from '../../../src/ports/view-store.ts'
import { AccountMailboxes, accountSnapshots } from '../../../src/services/accounts/account-mailboxes.ts'
import {
  accepted,
  accountErased,
  accountId,
  accountSuspended,
  budgetSet,
  completed,
  createKey,
  digest,
  failed,
  grantCredits,
  granted,
  grantUpload,
  keyCreated,
  keyId,
  limitsSet,
  openAccount,
  opened,
  queueRun,
  recordUploadDeletion,
  redeliveryRequested,
  refunded,
  requestUploadDeletion,
  retentionSet,
  revokeKey,
  secretRotated,
  sessionOpened,
  started,
  startRun,
  storeUpload,
  submitRun,
  tested,
  testRequested,
  undelivered,
  uploadGranted,
  uploadId,
  withdrawn,
} from '../../support/account-samples.ts'
import { ambient, noSnapshots, openLog, openViews } from '../../support/engine.ts'
import { at, by, given, THEN_MS } from '../../support/given.ts'
import { balanceLow, modelRetiring, noticeRaised, noticesSet, retirementIn } from '../../support/notice-samples.ts'
import { purchaseId, purchaseOpened } from '../../support/purchase-samples.ts'
import { until } from '../../support/until.ts'

/** A payment that is disputed, with a credit that is owed. */
const disputed: AccountEvent[] = [
  {
    type: 'PaymentDisputed',
    data: {
      ...{ purchaseId: purchaseId(), claimId: 'dp_1', amount: '1.00', currency: 'EUR' },
      ...{ creditsMicros: 1e6, withdrawnMicros: 0, owedMicros: 1e6 },
    },
  },
  { type: 'CreditsOwed', data: { claimId: 'dp_1', amountMicros: 1e6, owedAfterMicros: 1e6 } },
]

const STREAM = accountStream(accountId())
const caller = { kind: 'service' } as const

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

/** The history of an account that fills every part of the state and is long enough for a snapshot. */
const history: AccountCommand[] = [
  openAccount({ tester: true }),
  ...[createKey(1), createKey(2), createKey(3), revokeKey(2)],
  ...[1, 2, 3].map(run => queueRun({ run, key: `request-${run}` })),
  ...[startRun(2), startRun(3), submitRun(3)],
  ...[1, 2, 3, 4, 5].map(upload => grantUpload({ upload })),
  ...[storeUpload(2), storeUpload(3, { sealed: true }), requestUploadDeletion(4), recordUploadDeletion(5)],
  ...upTo(1200).map(() => grantCredits(1)),
]

const accountsOf = (log: EventLog, snapshots: Snapshots<AccountState> = noSnapshots) =>
  new AccountMailboxes({ log, snapshots, ...ambient() })

const forged: string[] = []

const key = 'a key of 32 bytes and a little more'

/** A snapshot with a valid MAC. */
const signed = (content: unknown): Snapshot => {
  const body = JSON.stringify(content)
  return { body, mac: createHmac('sha256', key).update(body).digest('hex') }
}

const snapshotsIn = (store: ViewStore) =>
  createSnapshots({
    store,
    form: accountSnapshots,
    key: Buffer.from(key),
    onForged: stream => void forged.push(stream),
  })

/** Asserts that loading with snapshots gives the same state as the whole stream. */
const assertSameState = async (t: Test, log: EventLog, snapshots: Snapshots<AccountState>) => {
  const [loaded, replayed] = await Promise.all(
    [snapshots, noSnapshots].map(kept => accountsOf(log, kept).state(accountId())),
  )
  t.same(plain(loaded as AccountState), plain(replayed as AccountState))
  t.equal(loaded?.balanceMicros, toMicros(100 - 30 + 1200))
}

/** Every part of the state; only the requests have an order. */
const plain = (state: AccountState) =>
  Object.fromEntries(
    Object.entries(state).map(([part, value]) => {
      if (!isCollection(value)) return [part, value]
      return [part, isOrdered(value as unknown) ? [...value] : value.toJS()]
    }),
  )

/** A log with that account and views with its snapshot. */
const openWithSnapshot = async (t: Test) => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const accounts = accountsOf(log, snapshotsIn(views))
  await Promise.all(history.map(command => accounts.execute(caller, accountId(), command)))
  // The answer does not wait for the snapshot.
  const snapshot = await until('the account has a snapshot', () => views.loadSnapshot(STREAM))
  return { log, views, snapshot }
}

t.test('an account is loaded from its snapshot and the events after it', async t => {
  const { log, views, snapshot } = await openWithSnapshot(t)
  const reads: number[] = []
  const watched: EventLog = {
    ...log,
    readEvent: (stream, revision) => {
      reads.push(revision)
      return log.readEvent(stream, revision)
    },
    readStream: (stream, fromRevision) => {
      reads.push(fromRevision)
      return log.readStream(stream, fromRevision)
    },
  }
  await accountsOf(watched, snapshotsIn(views)).state(accountId())
  const { revision } = JSON.parse(snapshot.body)
  t.ok(revision >= 999)
  t.same(reads, [revision, revision + 1])
  await assertSameState(t, log, snapshotsIn(views))
  const { uploads } = await accountsOf(log, snapshotsIn(views)).state(accountId())
  const stages = { 1: 'granted', 2: 'stored', 3: 'sealed', 4: 'deleting' }
  t.same(
    uploads.map(({ stage }) => stage).toJS(),
    Object.fromEntries(Object.entries(stages).map(([number, stage]) => [uploadId(+number), stage])),
  )
})

const topUpSet: AccountEvent = {
  type: 'TopUpSet',
  data: { underMicros: 1, creditsMicros: 1, monthlyAmount: '1.00', currency: 'EUR' },
}

t.test('a snapshot holds every part of the state', async t => {
  const { state: lived } = given(
    account,
    ...[opened({ tester: true }), granted(100, { kind: 'courtesy' }), keyCreated(), sessionOpened()],
    granted(1, { after: 101, kind: 'purchase', reference: 'bought' }),
    withdrawn(1, { after: 100, kind: 'purchase', reference: 'taken back' }),
    ...[...accepted({ run: 1, webhook: true, after: 90 }), started(1), completed(1), undelivered(1, { run: 1 })],
    ...[
      ...accepted({ run: 2, after: 80 }),
      failed(2, 'cancelled'),
      refunded(10, { run: 2, after: 90, code: 'cancelled' }),
    ],
    ...accepted({ run: 3, after: 80, key: 'from the future' }).map(event => at(THEN_MS + 100_000, event)),
    ...accepted({ run: 4, after: 70, key: 'from now' }),
    ...accepted({ run: 5, after: 60 }).map(event => by(keyId(), THEN_MS, event)),
    ...[secretRotated(1), testRequested(), by(keyId(), THEN_MS, redeliveryRequested(6))],
    ...[limitsSet({ runsInFlight: 5 }), noticesSet(), noticeRaised(1, balanceLow(5)), accountSuspended()],
    noticeRaised(2, modelRetiring(retirementIn(20), 30)),
    ...[tested({ run: 6 }), retentionSet(0)],
    ...[budgetSet('a', 100), ...accepted({ run: 7, after: 50, budget: { name: 'a', number: 1 } })],
    uploadGranted(),
    ...[purchaseOpened({ credits: 20 }), ...disputed, topUpSet],
    accountErased(),
  )
  // After runs by the thousand.
  const state = { ...lived, hasDroppedUses: true, hasNumberedLots: true, isSplitUnknown: true }
  const whole = plain(state)
  for (const [part, initial] of Object.entries(plain(initialAccount))) t.notSame(whole[part], initial, `it has ${part}`)
  const text = JSON.stringify(accountSnapshots.freeze(state))
  t.same(plain(accountSnapshots.thaw(JSON.parse(text))), whole)
})

t.test('a state of another shape has another version', async t => {
  const shape = sha256(JSON.stringify(accountSnapshots.freeze(initialAccount))).slice(0, 8)
  // A snapshot of the same version must have every part that the present code reads.
  const known = { version: 27, shape: '18ce3ff9' }
  t.same({ version: accountSnapshots.version, shape }, known, 'raise the version when the shape changes')
})

t.test('an account without its snapshot has the same state', async t => {
  const { log, views } = await openWithSnapshot(t)
  await views.deleteSnapshots()
  await assertSameState(t, log, snapshotsIn(views))
})

t.test('a snapshot that does not belong to the log is ignored', async t => {
  const { log, views, snapshot } = await openWithSnapshot(t)
  const body = JSON.parse(snapshot.body)
  t.not(body.version, accountSnapshots.version, 'an older version does not go on from this format')
  const foreign: Record<string, object> = {
    'another hash': { last: { ...body.last, hash: 'f'.repeat(64) } },
    'a revision past the end': { revision: 100_000 },
    'another revision': { revision: body.revision - 1 },
    'another version': { version: 0 },
    'the same version in an older format, which named none': { version: accountSnapshots.version },
  }
  for (const [name, change] of Object.entries(foreign))
    await t.test(name, async t => {
      // The MAC is valid, but the snapshot does not match this stream.
      const state = { ...body.state, balanceMicros: 1 }
      await views.saveSnapshot(STREAM, signed({ ...body, state, ...change }))
      await assertSameState(t, log, snapshotsIn(views))
    })
})

t.test('a forged snapshot is ignored and reported', async t => {
  const { log, views, snapshot } = await openWithSnapshot(t)
  const raised = snapshot.body.replace(/"balanceMicros":\d+/, '"balanceMicros":999000000')
  t.not(raised, snapshot.body)
  const forgeries: Record<string, Snapshot> = {
    'a raised balance': { body: raised, mac: snapshot.mac },
    'the MAC of another key': { body: raised, mac: createHmac('sha256', 'x').update(raised).digest('hex') },
    'no MAC': { body: raised, mac: '' },
    'of another stream': signed({ ...JSON.parse(snapshot.body), stream: 'account-other' }),
    ...({
      'the format of an older version': { version: 3, revision: 1, hash: '', state: {} },
      null: null,
      'a number': 7,
      'a MAC that is not text': { body: snapshot.body, mac: [snapshot.mac] },
      'a body that is not text': { body: 7, mac: signed(7).mac },
    } as unknown as Record<string, Snapshot>),
  }
  for (const [name, forgery] of Object.entries(forgeries))
    await t.test(name, async t => {
      forged.length = 0
      await views.saveSnapshot(STREAM, forgery)
      await assertSameState(t, log, snapshotsIn(views))
      t.same(forged, [STREAM])
    })
})

t.test('a snapshot of another log is ignored', async t => {
  const { snapshot } = await openWithSnapshot(t)
  const [log, views] = [await openLog(t), await openViews(t)]
  await accountsOf(log).execute(caller, accountId(), openAccount({ welcome: 7 }))
  await views.saveSnapshot(STREAM, snapshot)
  const { balanceMicros } = await accountsOf(log, snapshotsIn(views)).state(accountId())
  t.equal(balanceMicros, toMicros(7))
})

t.test('a short tail is not saved as a snapshot', async t => {
  const [log, views] = [await openLog(t), await openViews(t)]
  const snapshots = snapshotsIn(views)
  const accounts = accountsOf(log, snapshots)
  await accounts.execute(caller, accountId(), openAccount())
  const last = { hash: digest('a'), at: '2026-01-01T00:00:00.000Z', format: 2 }
  const folded = { revision: 1000, last, state: await accounts.state(accountId()), position: 0 }
  t.equal(await snapshots.offer(STREAM, folded, 1), false)
  t.equal(await views.loadSnapshot(STREAM), undefined)
  t.equal(await snapshots.offer(STREAM, folded, 0), true)
})

t.test('commands succeed when snapshots cannot be saved', async t => {
  const log = await openLog(t)
  const broken: Snapshots<AccountState> = { ...noSnapshots, offer: () => Promise.reject(new Error('the disk is full')) }
  const accounts = accountsOf(log, broken)
  t.match(await accounts.execute(caller, accountId(), openAccount()), { accept: [{}, {}] })
  t.match(await accounts.execute(caller, accountId(), grantCredits(1)), { accept: [{}] })
})
