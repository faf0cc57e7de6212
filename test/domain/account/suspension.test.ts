import t from 'tap'
import { suspensionRefusal } from '../../../src/domain/account/access.ts'
import { account } from '../../../src/domain/account/account.ts'
import { sendRefusal } from '../../../src/domain/account/uploads.ts'
import {
  accepted,
  accountResumed,
  accountSuspended,
  closeAccount,
  completed,
  completeRun,
  granted,
  keyCreated,
  keyId,
  keyRevoked,
  opened,
  queueRun,
  resumeAccount,
  started,
  startRun,
  suspendAccount,
  uploadGranted,
  uploadId,
} from '../../support/account-samples.ts'
import { given, THEN_MS } from '../../support/given.ts'

const funded = [opened(), granted(100), keyCreated()]

t.test('an account is suspended once and resumed once, with reasons', async () => {
  given(account, opened()).when(suspendAccount('unpaid')).then(accountSuspended('unpaid'))
  given(account, opened(), accountSuspended('unpaid'))
    .when(suspendAccount('fraud'))
    .refused('account_already_suspended', { reason: 'unpaid' })
  given(account, opened(), accountSuspended()).when(resumeAccount('paid')).then(accountResumed('paid'))
  given(account, opened()).when(resumeAccount()).refused('account_not_suspended')
  given(account, opened(), accountSuspended(), accountResumed()).when(suspendAccount()).then(accountSuspended())
})

t.test('an account is closed without open runs: its keys are revoked, and it is suspended', async () => {
  const keys = [keyRevoked(1), keyRevoked(2)]
  const twoKeys = [...funded, keyCreated(2)]
  given(account, ...twoKeys)
    .when(closeAccount('left'))
    .then(...keys, accountSuspended('left'))
  given(account, ...twoKeys, accountSuspended('unpaid'))
    .when(closeAccount('left'))
    .then(...keys)
  given(account, ...funded, keyRevoked(1), accountSuspended('unpaid'))
    .when(closeAccount('left'))
    .refused('account_already_suspended', { reason: 'unpaid' })
  given(account, ...funded, ...accepted({ credits: 10, after: 90 }))
    .when(closeAccount('left'))
    .refused('account_has_open_runs', { openRuns: 1 })
})

t.test('the state says why and since when', async t => {
  const { state } = given(account, ...funded, accountSuspended('unpaid'))
  t.same(state.suspension, { reason: 'unpaid', since: new Date(THEN_MS).toISOString() })
  t.same(suspensionRefusal(state), { code: 'account_suspended', reason: 'unpaid' })
  t.equal(suspensionRefusal(given(account, ...funded, accountSuspended(), accountResumed()).state), undefined)
})

t.test('the owner of a suspended account can run nothing until it is resumed', async t => {
  const byOwner = { ...queueRun({ askedWith: 1 }), isByOwner: true }
  given(account, ...funded, accountSuspended())
    .when(byOwner)
    .refused('account_suspended', { reason: 'unpaid' })
  t.equal(given(account, ...funded, accountSuspended(), accountResumed()).when(byOwner).refusal, undefined)
})

t.test('runs that were accepted before go on, also queued ones', async () => {
  const queued = [...funded, ...accepted({ credits: 10, after: 90 }), accountSuspended()]
  given(account, ...queued)
    .when(startRun())
    .then(started())
  given(account, ...queued, started())
    .when(completeRun())
    .then(completed())
})

t.test('no file is accepted at a presigned address of a suspended account', async t => {
  const sent = { keyId: keyId(), uploadId: uploadId() }
  const { state } = given(account, ...funded, uploadGranted(), accountSuspended())
  t.same(sendRefusal(sent, state), { code: 'account_suspended', reason: 'unpaid' })
  t.equal(sendRefusal(sent, given(account, ...funded, uploadGranted()).state), undefined)
})
