import t from 'tap'
import { account } from '../../../src/domain/account/account.ts'
import type { QueueRun } from '../../../src/domain/account/commands.ts'
import {
  accepted,
  cancelRun,
  completed,
  completeRun,
  createKey,
  digest,
  failed,
  failRun,
  granted,
  grantUpload,
  keyCreated,
  keyId,
  keyRevoked,
  oldKeyCreated,
  opened,
  queueRun,
  requestUploadDeletion,
  revokeKey,
  runId,
  started,
  startedAtOnce,
  startRun,
  submitRun,
  tested,
  testMode,
  uploadGranted,
  upstream,
  vendorUpstream,
} from '../../support/account-samples.ts'
import { at, by, given, THEN_MS } from '../../support/given.ts'

const LIVE = 1
const TEST = 2
const DAY_MS = 24 * 60 * 60 * 1000
const keys = [keyCreated(LIVE), keyCreated(TEST, 'full', testMode)]
const poor = [opened(), ...keys]
const rich = [...poor, granted(100)]
const run = (options: Parameters<typeof queueRun>[0] = {}): QueueRun => queueRun({ askedWith: TEST, ...options })

t.test('a test run is queued without a debit, also without credits, and says what it would cost', async t => {
  given(account, ...poor)
    .when(run({ label: 'ci' }))
    .then(tested({ label: 'ci' }))
  const { state } = given(account, ...poor, startedAtOnce(tested()))
  t.match(state.openRuns.get(runId()), { livemode: false, chargedMicros: 0, isStarted: true })
  t.equal(state.testRuns.count, 1)
  given(account, ...poor)
    .when(run({ startNow: true }))
    .then(startedAtOnce(tested()))
})

t.test('a live key of the same account pays, and so does a key from before there were test keys', async () => {
  given(account, opened(), oldKeyCreated(LIVE), granted(100))
    .when(run({ askedWith: LIVE }))
    .then(...accepted({ after: 90 }))
  given(account, ...rich)
    .when(run({ askedWith: LIVE }))
    .then(...accepted({ after: 90 }))
})

t.test('a test run that fails or is cancelled refunds nothing', async t => {
  const open = given(account, ...poor, tested(), started())
  open.when(failRun()).then(failed())
  const waiting = given(account, ...poor, tested()).when(cancelRun(1, TEST))
  t.match(waiting.decision, { accept: [{ type: 'RunFailed', data: { error: { code: 'cancelled' } } }] })
  t.equal('accept' in waiting.decision && waiting.decision.accept.length, 1)
  open.when(completeRun()).then(completed())
})

t.test('a test run starts in the sandbox and nowhere else', async t => {
  const waiting = given(account, ...poor, tested())
  waiting.when(startRun()).then(started())
  const error = { message: /in the sandbox, not at vendor/ }
  t.throws(() => waiting.when({ ...startRun(), upstream: vendorUpstream }), error)
  t.throws(() => given(account, ...poor).when({ ...run(), startAt: vendorUpstream }), error)
  const open = given(account, ...poor, tested(), started())
  t.throws(() => open.when({ ...submitRun(), upstream: vendorUpstream }), error)
  t.match(open.when(submitRun()).decision, { accept: [{ data: { upstream } }] })
})

t.test('a session in test mode makes test runs and uploads, and reaches only those', async () => {
  const session = { keyId: undefined, isByOwner: true, livemode: false } as const
  const { keyId: _, ...asked } = run()
  given(account, ...poor)
    .when({ ...asked, isByOwner: true, livemode: false })
    .then(tested())
  given(account, ...rich)
    .when({ ...asked, isByOwner: true })
    .then(...accepted({ after: 90 }))
  const { keyId: __, ...granting } = grantUpload()
  given(account, ...poor)
    .when({ ...granting, isByOwner: true, livemode: false })
    .then(uploadGranted({}, testMode))
  given(account, ...poor, uploadGranted())
    .when({ ...requestUploadDeletion(), ...session })
    .refused('upload_not_found')
  given(account, ...rich, ...accepted({ after: 90 }))
    .when({ ...cancelRun(), ...session })
    .refused('run_not_open')
  given(account, ...poor)
    .when({ ...createKey(3), askedWith: undefined, isByOwner: true, livemode: false })
    .refused('live_key_not_grantable')
  given(account, ...poor)
    .when({ ...revokeKey(LIVE), askedWith: undefined, isByOwner: true, livemode: false })
    .refused('key_not_found')
})

t.test('the mode of a key decides, and not what its caller says', async () => {
  given(account, ...rich)
    .when({ ...run({ askedWith: LIVE }), livemode: false })
    .then(...accepted({ after: 90 }))
})

t.test('an account has so many test runs in a UTC day', async t => {
  const next = { ...run({ run: 9 }), testRunsPerDay: 2 }
  const second = at(THEN_MS + 1, tested({ run: 2 }))
  const history = given(account, ...poor, tested({ run: 1 }), at(THEN_MS, failed(1)), second)
  const last = THEN_MS + DAY_MS - 1
  history.when(next, last).refused('too_many_test_runs', { limit: 2, retryAfterMs: 1 })
  history.when(next, last + 1).then(tested({ run: 9 }))
  t.same(history.state.testRuns, { day: '2026-01-01', count: 2 })
  const tomorrow = given(account, ...poor, tested({ run: 1 }), at(last + 1, tested({ run: 2 })))
  tomorrow.when(next, last + 1).then(tested({ run: 9 }))
  given(account, ...rich, tested({ run: 1 }), tested({ run: 2 }))
    .when({ ...next, keyId: keyId(LIVE) }, last)
    .then(...accepted({ run: 9, after: 90 }))
  given(account, ...poor)
    .when({ ...next, testRunsPerDay: 0 }, last)
    .refused('too_many_test_runs', {
      limit: 0,
      retryAfterMs: 1,
    })
})

t.test('two clocks that differ at midnight do not begin the day of test runs again', async t => {
  const midnight = THEN_MS + DAY_MS
  const next = { ...run({ run: 9 }), testRunsPerDay: 3 }
  const history = given(
    account,
    ...poor,
    at(midnight + 1, tested({ run: 1 })),
    at(midnight - 1, tested({ run: 2 })),
    at(midnight + 2, tested({ run: 3 })),
  )
  t.same(history.state.testRuns, { day: '2026-01-02', count: 3 })
  history.when(next, midnight + 3).refused('too_many_test_runs', { limit: 3, retryAfterMs: DAY_MS - 3 })
  history.when(next, midnight - 1).refused('too_many_test_runs', { limit: 3, retryAfterMs: DAY_MS + 1 })
})

t.test('the idempotency keys of the two modes do not meet', async () => {
  const both = given(account, ...rich, ...accepted({ run: 1, key: 'a', after: 90 }), tested({ run: 2, key: 'a' }))
  both.when(run({ run: 3, key: 'a' })).repeats(runId(2))
  both.when(run({ run: 3, key: 'a', askedWith: LIVE })).repeats(runId(1))
  both.when(run({ run: 3, key: 'a', hash: digest('f') })).refused('idempotency_mismatch')
  given(account, ...rich, ...accepted({ run: 1, key: 'a', after: 90 }))
    .when(run({ run: 2, key: 'a', hash: digest('f') }))
    .then(tested({ run: 2, key: 'a', hash: digest('f') }))
})

t.test('test runs count among the open runs of their key, and until they end', async t => {
  const open = given(account, ...poor, by(keyId(TEST), THEN_MS, tested()))
  t.same([...open.state.openRunsOf], [[keyId(TEST), 1]])
  t.ok(open.state.openRunBytes > 0)
  const ended = given(account, ...poor, by(keyId(TEST), THEN_MS, tested()), started(), completed())
  t.same([...ended.state.openRunsOf, ended.state.openRunBytes, ended.state.openRuns.size], [0, 0])
})

t.test('test runs neither count as failures of the account nor offset them', async t => {
  const failedTest = given(account, ...poor, tested(), started(), failed(1, 'invalid_input'))
  t.equal(failedTest.state.ownFailures.count, 0)
  const live = [...rich, ...accepted({ after: 90 }), started(), failed(1, 'invalid_input')]
  t.equal(given(account, ...live, tested({ run: 2 }), started(2), completed(2)).state.ownFailures.count, 1)
})

t.test('a key changes nothing of the other mode', async () => {
  given(account, ...poor, tested())
    .when(cancelRun(1, LIVE))
    .refused('run_not_open')
  given(account, ...rich, ...accepted({ after: 90 }))
    .when(cancelRun(1, TEST))
    .refused('run_not_open')
  const uploads = given(account, ...poor, uploadGranted({ upload: 1 }), uploadGranted({ upload: 2 }, testMode))
  uploads.when(requestUploadDeletion(1, TEST)).refused('upload_not_found')
  uploads.when(requestUploadDeletion(2, LIVE)).refused('upload_not_found')
  given(account, ...poor)
    .when(grantUpload({}, TEST))
    .then(uploadGranted({}, testMode))
  given(account, ...poor)
    .when(grantUpload({}, LIVE))
    .then(uploadGranted())
})

t.test('a test key manages test keys alone, also if it was revoked meanwhile', async t => {
  const askedWith = keyId(3)
  const manager = keyCreated(3, 'keys', testMode)
  const managed = given(account, ...poor, manager)
  managed.when({ ...createKey(4), askedWith }).refused('live_key_not_grantable')
  managed.when({ ...createKey(4, 'full', testMode), askedWith }).then(keyCreated(4, 'full', testMode))
  managed.when({ ...revokeKey(LIVE), askedWith }).refused('key_not_found')
  managed.when({ ...revokeKey(TEST), askedWith }).then(keyRevoked(TEST))
  const revoked = given(account, ...poor, manager, keyRevoked(3))
  for (const command of [createKey(4), revokeKey(LIVE)])
    t.equal(revoked.when({ ...command, askedWith }).refusal, 'key_revoked')
  given(account, ...poor, keyCreated(3, 'keys'))
    .when({ ...createKey(4, 'full', testMode), askedWith })
    .then(keyCreated(4, 'full', testMode))
})
